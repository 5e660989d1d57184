# The sandbox: docker build -t messaging . && docker run --rm -p 127.0.0.1:8026:8026 messaging
#
# It prints the token and, because it listens on more than loopback, a password for its page. Messages are in memory only.
# --token keeps the token between runs: docker run ... messaging sandbox --listen 0.0.0.0:8026 --token TOKEN
# By digest, so that a tag that moves changes nothing. Dependabot proposes newer ones.
FROM golang:1.26.8@sha256:3c3e25a4da13fd0478eed2df1eb35a0e667094a7124d3993a6a1d30f71c17e79 AS build
WORKDIR /src
COPY . .
ARG VERSION=
RUN CGO_ENABLED=0 GOWORK=off go build -C cmd/messaging -trimpath -ldflags="-s -w -X main.release=${VERSION}" -o /messaging .

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /messaging /messaging
USER 65532:65532
EXPOSE 8026
HEALTHCHECK --interval=10s --timeout=3s CMD ["/messaging", "healthcheck", "http://127.0.0.1:8026/_sandbox/"]
ENTRYPOINT ["/messaging"]
CMD ["sandbox", "--listen", "0.0.0.0:8026"]
