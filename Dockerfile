# The base by tag: no digest stands here that was not read from a registry. Releases name the built image by digest.
FROM python:3.13-slim

ENV PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
COPY requirements/run.txt /tmp/run.txt
RUN python3 -m pip install --require-hashes --no-cache-dir --no-compile --target /opt/verifier -r /tmp/run.txt \
 && rm -r /tmp/run.txt /opt/verifier/bin
COPY entrypoint.py /opt/verifier/entrypoint.py
COPY verifier /opt/verifier/verifier
RUN python3 -m compileall -q -j 0 --invalidation-mode unchecked-hash /opt/verifier

# The runner gives files that only root may write (outputs, summary), so there is no USER here.
# Isolated: nothing of the environment, the working directory or the user's site is ever on the path.
ENTRYPOINT ["/usr/local/bin/python3", "-I", "-B", "/opt/verifier/entrypoint.py"]
