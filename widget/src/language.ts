// Which language the reader is spoken to in, and the few words that are needed before the panel is there.

const LANGUAGES = ["en", "de", "es", "fr", "pt", "zh", "ja", "ur"] as const;
export type Language = (typeof LANGUAGES)[number];

const BUTTONS: Readonly<Record<Language, readonly [ask: string, about: string]>> = {
  en: ["Ask", "Ask about this"],
  de: ["Fragen", "Dazu fragen"],
  es: ["Preguntar", "Preguntar sobre esto"],
  fr: ["Demander", "Demander à ce sujet"],
  pt: ["Perguntar", "Perguntar sobre isto"],
  zh: ["提问", "就此提问"],
  ja: ["質問する", "ここについて質問"],
  ur: ["پوچھیں", "اس کے بارے میں پوچھیں"],
};

export function languageOf(wanted: string | undefined): Language {
  const code = (wanted || document.documentElement.lang || "en").slice(0, 2).toLowerCase();
  return LANGUAGES.find((known) => known === code) ?? "en";
}

export const buttonsOf = (language: Language): readonly [string, string] => BUTTONS[language];
export const directionOf = (language: Language): "rtl" | "ltr" => (language === "ur" ? "rtl" : "ltr");
