"""Answers: the steps of a question, its evidence, the hosted model, refusals, and how sure an answer is."""
