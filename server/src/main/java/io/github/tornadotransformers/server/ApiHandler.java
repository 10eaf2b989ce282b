package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.Receipt;
import io.github.tornadotransformers.engine.Replay;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.chat.ChatOptions;
import io.github.tornadotransformers.models.chat.ChatPrompt;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import io.github.tornadotransformers.server.ServedModels.Lease;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/** What is answered at which path. */
final class ApiHandler extends Handler.Abstract {
    private static final String BEARER = "Bearer ";
    private static final String PAGE = "/io/github/tornadotransformers/server/page.html";

    private final ServedModels models;
    private final ServerSettings settings;
    private final ServerMetrics metrics;
    private final AtomicInteger open = new AtomicInteger();
    private volatile boolean draining;

    ApiHandler(ServedModels models, ServerSettings settings, ServerMetrics metrics) {
        this.models = models;
        this.settings = settings;
        this.metrics = metrics;
    }

    /** From now on nothing new is taken. */
    void drain() {
        draining = true;
    }

    /** Requests that are being answered. */
    int open() {
        return open.get();
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) {
        Exchange exchange = new Exchange(request, response);
        open.incrementAndGet();
        try {
            answer(exchange);
            metrics.request(known(exchange.path()), exchange.status());
            callback.succeeded();
        } catch (IOException | InterruptedException e) {
            metrics.request(known(exchange.path()), 499);
            callback.failed(e);
        } finally {
            open.decrementAndGet();
        }
        return true;
    }

    private void answer(Exchange exchange) throws IOException, InterruptedException {
        try {
            allowOrigin(exchange);
            if (!preflight(exchange)) {
                requireKey(exchange);
                route(exchange);
            }
        } catch (ApiException e) {
            refuse(exchange, e);
        } catch (InvalidRequest e) {
            refuse(exchange, AnswerRequest.refused(e));
        } catch (TransformersException e) {
            refuse(exchange, ApiException.failed(e.getMessage()));
        } catch (RuntimeException e) {
            refuse(exchange, ApiException.failed("internal error, please report it: " + e));
        }
    }

    private static void refuse(Exchange exchange, ApiException e) throws IOException {
        if (exchange.isCommitted()) {
            throw new IOException(e);
        }
        e.retryAfterSeconds().ifPresent(seconds -> exchange.header(HttpHeader.RETRY_AFTER.asString(), seconds));
        exchange.sendJson(e.status(), e.toJson());
    }

    private void allowOrigin(Exchange exchange) {
        settings.allowedOrigin().ifPresent(origin -> {
            exchange.header("Access-Control-Allow-Origin", origin);
            exchange.header("Access-Control-Allow-Headers", "authorization, content-type, x-receipt");
            exchange.header("Access-Control-Allow-Methods", "GET, POST");
        });
    }

    private boolean preflight(Exchange exchange) throws IOException {
        boolean asked =
                exchange.method().equals("OPTIONS") && settings.allowedOrigin().isPresent();
        if (asked) {
            exchange.send(204, "text/plain", new byte[0]);
        }
        return asked;
    }

    /** The page and the health of the server are nobody's secret. */
    private void requireKey(Exchange exchange) {
        if (settings.apiKey().isEmpty()
                || exchange.path().equals("/")
                || exchange.path().startsWith("/health")) {
            return;
        }
        String given = Optional.ofNullable(exchange.headers().get(HttpHeader.AUTHORIZATION))
                .orElse("");
        byte[] expected = (BEARER + settings.apiKey().get()).getBytes(StandardCharsets.UTF_8);
        if (!MessageDigest.isEqual(given.getBytes(StandardCharsets.UTF_8), expected)) {
            throw ApiException.unauthorized();
        }
    }

    private void route(Exchange exchange) throws IOException, InterruptedException {
        switch (exchange.path()) {
            case "/" -> {
                requireMethod(exchange, "GET");
                exchange.send(200, "text/html; charset=utf-8", page());
            }
            case "/health", "/health/live", "/health/ready" -> health(exchange);
            case "/metrics" -> {
                requireMethod(exchange, "GET");
                exchange.send(200, ServerMetrics.CONTENT_TYPE, metrics.text().getBytes(StandardCharsets.UTF_8));
            }
            case "/v1/models" -> {
                requireMethod(exchange, "GET");
                exchange.sendJson(200, list());
            }
            case "/v1/chat/completions" -> answers(exchange, true);
            case "/v1/completions" -> answers(exchange, false);
            case "/v1/embeddings" -> embeddings(exchange);
            case "/tokenize" -> tokenize(exchange);
            case "/detokenize" -> detokenize(exchange);
            case "/replay" -> replay(exchange);
            default -> {
                String path = exchange.path();
                if (path.startsWith("/v1/models/")) {
                    requireMethod(exchange, "GET");
                    exchange.sendJson(200, model(path.substring("/v1/models/".length())));
                } else {
                    throw ApiException.notFound("there is nothing at " + path);
                }
            }
        }
    }

    /** Paths that anyone may make up are one, for the count. */
    private static String known(String path) {
        return List.of(
                                        "/",
                                        "/metrics",
                                        "/v1/models",
                                        "/v1/chat/completions",
                                        "/v1/completions",
                                        "/v1/embeddings",
                                        "/tokenize",
                                        "/detokenize",
                                        "/replay")
                                .contains(path)
                        || path.startsWith("/health")
                ? path
                : "other";
    }

    private static void requireMethod(Exchange exchange, String method) {
        if (!exchange.method().equals(method)) {
            throw ApiException.wrongMethod(
                    exchange.path() + " takes " + method + ", and the request is " + exchange.method());
        }
    }

    private JsonNode body(Exchange exchange) throws IOException {
        requireMethod(exchange, "POST");
        if (draining) {
            throw ApiException.busy("the server is ending");
        }
        return exchange.json(settings.maxBodyBytes());
    }

    private static byte[] page() throws IOException {
        try (InputStream page = ApiHandler.class.getResourceAsStream(PAGE)) {
            return page.readAllBytes();
        }
    }

    private void health(Exchange exchange) throws IOException {
        requireMethod(exchange, "GET");
        boolean ready = !draining && models.isReady();
        boolean asked =
                exchange.path().equals("/health/ready") || exchange.path().equals("/health");
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put("status", draining ? "ending" : ready ? "ok" : "loading")
                .put("live", true)
                .put("ready", ready);
        exchange.sendJson(asked && !ready ? 503 : 200, json);
    }

    private ObjectNode list() {
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("object", "list");
        ArrayNode data = json.putArray("data");
        models.names().forEach(name -> data.add(model(name)));
        return json;
    }

    private ObjectNode model(String name) {
        if (!models.names().contains(name)) {
            throw ApiException.unknownModel(
                    "there is no model " + name + " here: " + String.join(", ", models.names()));
        }
        return JsonNodeFactory.instance
                .objectNode()
                .put("id", name)
                .put("object", "model")
                .put("created", 0)
                .put("owned_by", "tornado-transformers");
    }

    private void answers(Exchange exchange, boolean chat) throws IOException, InterruptedException {
        JsonNode json = body(exchange);
        if (json instanceof ObjectNode object
                && Boolean.parseBoolean(exchange.headers().get("X-Receipt"))) {
            object.put("receipt", true);
        }
        AnswerRequest request = chat ? AnswerRequest.chat(json) : AnswerRequest.completion(json);
        try (Lease lease = models.lease(request.model())) {
            new Answers(request, lease.worker(), metrics, settings.maxAnswer()).write(exchange);
        }
    }

    private void embeddings(Exchange exchange) throws IOException, InterruptedException {
        Fields fields = Fields.of(body(exchange));
        List<AnswerRequest.Prompt> inputs =
                AnswerRequest.prompts(fields.require("input", "a text, token ids, or a list of these"));
        boolean base64 = fields.text("encoding_format").orElse("float").equals("base64");
        Optional<String> name = fields.text("model");
        fields.ignore("user");
        fields.requireNoOthers();
        try (Lease lease = models.lease(name)) {
            exchange.sendJson(200, Embeddings.of(inputs, lease.worker(), base64));
        }
    }

    private void tokenize(Exchange exchange) throws IOException {
        Fields fields = Fields.of(body(exchange));
        Optional<String> name = fields.text("model");
        Optional<String> text = fields.text("prompt");
        boolean special = fields.flag("add_special_tokens", true);
        boolean generationPrompt = fields.flag("add_generation_prompt", true);
        try (Lease lease = models.lease(name)) {
            Tokenizer tokenizer = Answers.tokenizer(lease.worker());
            ObjectNode json = JsonNodeFactory.instance.objectNode();
            int[] ids;
            if (text.isPresent()) {
                ids = special ? tokenizer.encodePrompt(text.get()) : tokenizer.encode(text.get());
            } else {
                ChatPrompt prompt = lease.worker()
                        .folder()
                        .chatTemplate()
                        .prompt(
                                AnswerRequest.messages(fields),
                                ChatOptions.DEFAULT.withGenerationPrompt(generationPrompt),
                                tokenizer);
                ids = prompt.ids();
                json.put("prompt", prompt.text());
            }
            fields.requireNoOthers();
            json.put("count", ids.length).put("max_model_len", lease.worker().contextLength());
            ArrayNode tokens = json.putArray("tokens");
            for (int id : ids) {
                tokens.add(id);
            }
            exchange.sendJson(200, json);
        }
    }

    private void detokenize(Exchange exchange) throws IOException {
        Fields fields = Fields.of(body(exchange));
        Optional<String> name = fields.text("model");
        JsonNode tokens = fields.require("tokens", "a list of token ids");
        fields.requireNoOthers();
        if (!tokens.isArray()) {
            throw fields.wrong("tokens", tokens, "a list of token ids");
        }
        int[] ids = Fields.ids(tokens, "tokens");
        try (Lease lease = models.lease(name)) {
            exchange.sendJson(
                    200,
                    JsonNodeFactory.instance
                            .objectNode()
                            .put("prompt", Answers.tokenizer(lease.worker()).decode(ids)));
        }
    }

    /** Runs a receipt's answer again, beside all others. */
    private void replay(Exchange exchange) throws IOException, InterruptedException {
        Receipt receipt = Receipt.parse(body(exchange));
        try (Lease lease = models.lease(Optional.of(receipt.model()))) {
            ModelWorker worker = lease.worker();
            if (!receipt.modelHash().equals(worker.hash())) {
                throw ApiException.invalid("model_sha256", "the receipt is of another model than " + worker.name());
            }
            if (receipt.dtype() != worker.session().dtype()
                    || receipt.kvType() != worker.session().kvType()) {
                throw ApiException.invalid("dtype", "the receipt is of other types than the model runs in here");
            }
            if (receipt.context() > worker.contextLength()) {
                throw ApiException.invalid(
                        "context",
                        "the receipt has " + receipt.context() + " positions, and the model has room for "
                                + worker.contextLength() + " here");
            }
            worker.requireRoom(1);
            Replay.Run run = Replay.run(
                    receipt,
                    worker.folder().config().vocabSize(),
                    worker.folder().usableTokenizer());
            CompletableFuture<Void> ended = new CompletableFuture<>();
            worker.add(run.generation(), () -> ended.complete(null));
            ended.get();
            Optional<String> difference = run.difference();
            ObjectNode json = JsonNodeFactory.instance.objectNode().put("equal", difference.isEmpty());
            json.put("steps", receipt.logits().size());
            json.put("difference", difference.orElse(null));
            exchange.sendJson(200, json);
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }
}
