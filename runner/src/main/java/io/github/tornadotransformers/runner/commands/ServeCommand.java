package io.github.tornadotransformers.runner.commands;

import io.github.tornadotransformers.engine.EngineSettings;
import io.github.tornadotransformers.models.IoReason;
import io.github.tornadotransformers.runner.console.Console;
import io.github.tornadotransformers.runner.console.ExitCode;
import io.github.tornadotransformers.runner.console.Failure;
import io.github.tornadotransformers.runner.console.Interruption;
import io.github.tornadotransformers.runner.engines.CompileStatus;
import io.github.tornadotransformers.runner.hub.ModelCache;
import io.github.tornadotransformers.runner.hub.ShippedModels;
import io.github.tornadotransformers.server.ModelServer;
import io.github.tornadotransformers.server.ServedModel;
import io.github.tornadotransformers.server.ServerSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Answers OpenAI's protocol. */
@Command(
        name = "serve",
        customSynopsis = "transformers serve [OPTION]...",
        description = {
            "Answer OpenAI's protocol over HTTP, and show a page to chat on.",
            "",
            "The address stands in the first line of stdout. Ctrl-C and SIGTERM let answers end, for a while; a second Ctrl-C does not."
        },
        sortOptions = false)
final class ServeCommand implements Callable<Integer> {
    private static final Duration BESIDE_GRACE = Duration.ofSeconds(10);
    private static final int POLL_MILLIS = 50;
    private static final int MAX_PORT = 65_535;

    private final Console console;

    @Option(
            names = {"-m", "--model"},
            paramLabel = "NAME|DIR",
            description =
                    "a model to serve, by this name; may be given several times: the first is loaded at once, others when they are"
                            + " asked for (default: " + ShippedModels.LLAMA + ")")
    List<String> models = List.of(ShippedModels.LLAMA);

    @Option(
            names = "--host",
            paramLabel = "NAME",
            description = "the interface to listen on (default: ${DEFAULT-VALUE})")
    String host = ServerSettings.DEFAULT.host();

    @Option(names = "--port", paramLabel = "N", description = "0: any free one (default: ${DEFAULT-VALUE})")
    int port = ServerSettings.DEFAULT.port();

    @Option(
            names = "--api-key",
            paramLabel = "KEY",
            description = "a key that requests must bring (default: the variable TRANSFORMERS_API_KEY, if it is set)")
    String apiKey;

    @Option(names = "--tls-cert", paramLabel = "FILE", description = "a certificate chain, PEM, for HTTPS")
    Path certificate;

    @Option(names = "--tls-key", paramLabel = "FILE", description = "its private key, PEM (PKCS #8)")
    Path key;

    @Option(names = "--cors", paramLabel = "ORIGIN", description = "a site whose pages may ask, or * (default: none)")
    String origin;

    @Option(
            names = {"-j", "--jobs"},
            paramLabel = "N",
            description = "answers that run together (default: ${DEFAULT-VALUE})")
    int jobs = ServerSettings.DEFAULT.running();

    @Option(
            names = "--queue",
            paramLabel = "N",
            description = "answers that wait beside them; more are refused (default: ${DEFAULT-VALUE})")
    int queue = ServerSettings.DEFAULT.waiting();

    @Option(
            names = "--memory",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description =
                    "for the models that are loaded, such as 8G: the least recently used go (default: what they need)")
    Long memory;

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            converter = ByteSize.class,
            description = "of a request (default: 8M)")
    long maxBody = ServerSettings.DEFAULT.maxBodyBytes();

    @Option(
            names = "--max-time",
            paramLabel = "SECONDS",
            description = "of an answer; what it has then is the answer (default: 600)")
    int maxTime = Math.toIntExact(ServerSettings.DEFAULT.maxAnswer().toSeconds());

    @Option(
            names = "--grace",
            paramLabel = "SECONDS",
            description = "how long answers may go on when the server is told to end (default: 30)")
    int grace = Math.toIntExact(ServerSettings.DEFAULT.grace().toSeconds());

    @ArgGroup(validate = false, heading = "%nHow the models run:%n")
    EngineOptions engine = new EngineOptions();

    @Mixin
    CommonOptions common;

    ServeCommand(Console console) {
        this.console = console;
    }

    @Override
    public Integer call() throws InterruptedException {
        EngineSettings how = engine.settings().withCompileListener(new CompileStatus(console.status()));
        ServerSettings settings = settings();
        ModelCache cache = new ModelCache(console);
        Path first = cache.checkpoint(models.getFirst());
        List<ServedModel> served = models.stream()
                .map(name -> new ServedModel(
                        name, () -> name.equals(models.getFirst()) ? first : cache.checkpoint(name), how))
                .toList();
        try (Interruption interruption = Interruption.watch(
                        settings.grace().plus(BESIDE_GRACE), () -> console.err().println("answers end …"));
                ModelServer server = start(settings, served)) {
            console.out().println(server.address().toString());
            console.err().println(server.loadFirst());
            while (!interruption.requested()) {
                Thread.sleep(POLL_MILLIS);
            }
        }
        return ExitCode.INTERRUPTED;
    }

    private ServerSettings settings() {
        require(port >= 0 && port <= MAX_PORT, "--port is " + port + ", expected 0 to " + MAX_PORT);
        require(jobs >= 1, "--jobs is " + jobs + ", expected 1 or more");
        require(queue >= 1, "--queue is " + queue + ", expected 1 or more");
        require(maxBody < Integer.MAX_VALUE, "--max-body is " + maxBody + ", expected less than 2G");
        require(maxTime >= 1, "--max-time is " + maxTime + ", expected 1 or more");
        require(grace >= 0, "--grace is " + grace + ", expected 0 or more");
        require(
                (certificate == null) == (key == null),
                "--tls-cert and --tls-key belong together, and one of them is missing");
        require(new HashSet<>(models).size() == models.size(), "--model names a model twice");
        ServerSettings settings = ServerSettings.DEFAULT
                .withHost(host)
                .withPort(port)
                .withRunning(jobs)
                .withWaiting(queue)
                .withMaxBodyBytes(maxBody)
                .withMaxAnswer(Duration.ofSeconds(maxTime))
                .withGrace(Duration.ofSeconds(grace));
        Optional<String> secret = Optional.ofNullable(apiKey).or(() -> console.variable("TRANSFORMERS_API_KEY"));
        if (secret.isPresent()) {
            settings = settings.withApiKey(secret.get());
        }
        if (certificate != null) {
            settings = settings.withTls(certificate, key);
        }
        if (origin != null) {
            settings = settings.withAllowedOrigin(origin);
        }
        return memory == null ? settings : settings.withMemory(memory);
    }

    private static void require(boolean holds, String message) {
        if (!holds) {
            throw Failure.usage(message);
        }
    }

    private static ModelServer start(ServerSettings settings, List<ServedModel> served) {
        try {
            return ModelServer.start(settings, served);
        } catch (IOException e) {
            throw Failure.of(
                    settings.host() + ":" + settings.port() + " cannot be listened on: " + IoReason.of(e)
                            + " (--port 0 takes any free one)",
                    e);
        }
    }
}
