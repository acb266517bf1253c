# The program on Debian 12, without a GPU: docker build -t tritonrl . && docker run --rm tritonrl doctor
# The judge needs user namespaces, landlock and seccomp, which Docker's default profile forbids:
#     docker run --rm --security-opt seccomp=unconfined tritonrl serve --host 0.0.0.0 --token-file /run/secrets/token
FROM debian:12 AS build
RUN apt-get update && apt-get install -y --no-install-recommends make python3
COPY . /src
WORKDIR /src
RUN tools/setup build && make && make deb

FROM debian:12
COPY --from=build /src/build/release/tritonrl_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/tritonrl_*.deb && rm -rf /tmp/*.deb /var/lib/apt/lists/*
WORKDIR /work
ENTRYPOINT ["tritonrl"]
CMD ["help"]
