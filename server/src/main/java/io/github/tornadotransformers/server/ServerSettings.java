package io.github.tornadotransformers.server;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Consumer;

/** How a server is reached, and what it takes on. What is not said has a default: on this machine alone, without a key. */
public final class ServerSettings {
    public static final ServerSettings DEFAULT = new ServerSettings();

    private String host = "127.0.0.1";
    private int port = 8080;
    private Optional<String> apiKey = Optional.empty();
    private Optional<Tls> tls = Optional.empty();
    private Optional<String> allowedOrigin = Optional.empty();
    private int running = 32;
    private int waiting = 256;
    private long maxBodyBytes = 8L << 20;
    private Duration maxAnswer = Duration.ofMinutes(10);
    private Duration grace = Duration.ofSeconds(30);
    private OptionalLong memory = OptionalLong.empty();

    /** PEM files. */
    public record Tls(Path certificates, Path key) {}

    private ServerSettings() {}

    /** Others, with one change; nobody sees these before it is made. */
    private ServerSettings with(Consumer<ServerSettings> change) {
        ServerSettings others = new ServerSettings();
        others.host = host;
        others.port = port;
        others.apiKey = apiKey;
        others.tls = tls;
        others.allowedOrigin = allowedOrigin;
        others.running = running;
        others.waiting = waiting;
        others.maxBodyBytes = maxBodyBytes;
        others.maxAnswer = maxAnswer;
        others.grace = grace;
        others.memory = memory;
        change.accept(others);
        return others;
    }

    /** Whose interface it listens on. */
    public String host() {
        return host;
    }

    /** 0: any that is free. */
    public int port() {
        return port;
    }

    /** That requests must bring; empty: none. */
    public Optional<String> apiKey() {
        return apiKey;
    }

    /** Certificate chain and private key; empty: plain HTTP. */
    public Optional<Tls> tls() {
        return tls;
    }

    /** Of pages of other sites that may ask, or {@code *}; empty: none. */
    public Optional<String> allowedOrigin() {
        return allowedOrigin;
    }

    /** Answers that run together, of a model. */
    public int running() {
        return running;
    }

    /** Answers that wait beside them at most; more are refused. */
    public int waiting() {
        return waiting;
    }

    /** Of a request. */
    public long maxBodyBytes() {
        return maxBodyBytes;
    }

    /** How long a request may take; what it has then is its answer. */
    public Duration maxAnswer() {
        return maxAnswer;
    }

    /** How long answers may go on when the server is told to stop. */
    public Duration grace() {
        return grace;
    }

    /** For the models that are loaded, weights and caches, in bytes; empty: as much as they need. */
    public OptionalLong memory() {
        return memory;
    }

    public ServerSettings withHost(String name) {
        return with(each -> each.host = name);
    }

    public ServerSettings withPort(int number) {
        return with(each -> each.port = number);
    }

    public ServerSettings withApiKey(String key) {
        return with(each -> each.apiKey = Optional.of(key));
    }

    public ServerSettings withTls(Path certificates, Path key) {
        return with(each -> each.tls = Optional.of(new Tls(certificates, key)));
    }

    public ServerSettings withAllowedOrigin(String origin) {
        return with(each -> each.allowedOrigin = Optional.of(origin));
    }

    public ServerSettings withRunning(int most) {
        return with(each -> each.running = most);
    }

    public ServerSettings withWaiting(int most) {
        return with(each -> each.waiting = most);
    }

    public ServerSettings withMaxBodyBytes(long most) {
        return with(each -> each.maxBodyBytes = most);
    }

    public ServerSettings withMaxAnswer(Duration most) {
        return with(each -> each.maxAnswer = most);
    }

    public ServerSettings withGrace(Duration most) {
        return with(each -> each.grace = most);
    }

    public ServerSettings withMemory(long bytes) {
        return with(each -> each.memory = OptionalLong.of(bytes));
    }
}
