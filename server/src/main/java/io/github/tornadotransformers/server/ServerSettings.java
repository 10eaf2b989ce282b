package io.github.tornadotransformers.server;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * How a server is reached, and what it takes on.
 *
 * @param host whose interface it listens on
 * @param port 0: any that is free
 * @param apiKey that requests must bring; empty: none
 * @param tls certificate chain and private key, PEM; empty: plain HTTP
 * @param allowedOrigin of pages of other sites that may ask, or {@code *}; empty: none
 * @param running answers that run together, of a model
 * @param waiting answers that wait beside them at most; more are refused
 * @param maxBodyBytes of a request
 * @param maxAnswer how long a request may take; what it has then is its answer
 * @param grace how long answers may go on when the server is told to stop
 * @param memory for the models that are loaded, weights and caches; empty: as much as they need
 */
public record ServerSettings(
        String host,
        int port,
        Optional<String> apiKey,
        Optional<Tls> tls,
        Optional<String> allowedOrigin,
        int running,
        int waiting,
        long maxBodyBytes,
        Duration maxAnswer,
        Duration grace,
        OptionalLong memory) {
    /** On this machine alone. */
    public static final ServerSettings DEFAULT = new ServerSettings(
            "127.0.0.1",
            8080,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            32,
            256,
            8L << 20,
            Duration.ofMinutes(10),
            Duration.ofSeconds(30),
            OptionalLong.empty());

    /** PEM files. */
    public record Tls(Path certificates, Path key) {}

    public ServerSettings withPort(int other) {
        return new ServerSettings(
                host, other, apiKey, tls, allowedOrigin, running, waiting, maxBodyBytes, maxAnswer, grace, memory);
    }

    public ServerSettings withApiKey(String key) {
        return new ServerSettings(
                host,
                port,
                Optional.of(key),
                tls,
                allowedOrigin,
                running,
                waiting,
                maxBodyBytes,
                maxAnswer,
                grace,
                memory);
    }

    public ServerSettings withWaiting(int most) {
        return new ServerSettings(
                host, port, apiKey, tls, allowedOrigin, running, most, maxBodyBytes, maxAnswer, grace, memory);
    }

    public ServerSettings withMemory(long bytes) {
        return new ServerSettings(
                host,
                port,
                apiKey,
                tls,
                allowedOrigin,
                running,
                waiting,
                maxBodyBytes,
                maxAnswer,
                grace,
                OptionalLong.of(bytes));
    }
}
