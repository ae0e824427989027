"""Serve a GGUF model over the chat-completions protocol: python bench/real_model_server.py MODEL.gguf PORT.

Needs `pip install xllamacpp` in an environment of its own; the product does not use it.
"""

import sys
import threading

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.port = int(sys.argv[2])
params.n_ctx = 6144
params.n_parallel = 1
params.use_jinja = True
params.cpuparams.n_threads = 2
params.cpuparams_batch.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
