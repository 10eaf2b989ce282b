package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ArithmeticContract;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.TransformersException;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The answers to one request, from the first token to the last byte. */
final class Answers {
    private static final JsonNodeFactory JSON = JsonNodeFactory.instance;
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(5);
    private static final int FINGERPRINT_DIGITS = 16;

    private final AnswerRequest request;
    private final ModelWorker worker;
    private final ServerMetrics metrics;
    private final long deadline;
    private final BlockingQueue<Choice.Event> events = new LinkedBlockingQueue<>();
    private final List<Choice> choices = new ArrayList<>();
    private final String id;
    private final long created = Instant.now().getEpochSecond();
    private volatile boolean cancelled;

    /** @throws ApiException if the request does not fit the model */
    Answers(AnswerRequest request, ModelWorker worker, ServerMetrics metrics, Duration most) {
        this.request = request;
        this.worker = worker;
        this.metrics = metrics;
        deadline = System.nanoTime() + most.toNanos();
        id = (isChat() ? "chatcmpl-" : "cmpl-") + UUID.randomUUID().toString().replace("-", "");
        try {
            prepare();
        } catch (InvalidRequest e) {
            throw AnswerRequest.refused(e);
        } catch (TransformersException e) {
            throw ApiException.invalid(null, e.getMessage());
        }
    }

    private boolean isChat() {
        return request.messages().isPresent();
    }

    private void prepare() {
        List<int[]> prompts = new ArrayList<>();
        if (isChat()) {
            prompts.add(worker.folder()
                    .chatTemplate()
                    .prompt(
                            request.messages().orElseThrow(),
                            request.chat(),
                            worker.folder().tokenizer())
                    .ids());
        }
        for (AnswerRequest.Prompt prompt : request.prompts()) {
            prompts.add(prompt.text()
                    .map(text -> worker.folder().tokenizer().encodePrompt(text))
                    .orElse(prompt.ids()));
        }
        worker.requireRoom(Math.multiplyExact(prompts.size(), request.choices()));
        for (int[] prompt : prompts) {
            for (int i = 0; i < request.choices(); i++) {
                SamplingOptions sampling =
                        request.sampling().withSeed(request.sampling().seed() + i);
                choices.add(new Choice(
                        choices.size(),
                        prompt,
                        worker,
                        sampling,
                        options(prompt),
                        request.topLogprobs(),
                        request.receipt(),
                        events,
                        this::isCancelled,
                        metrics));
            }
        }
    }

    private GenerationOptions options(int[] prompt) {
        int room = Math.max(1, worker.contextLength() - prompt.length + 1);
        GenerationOptions options = GenerationOptions.ofTokens(
                        Math.min(room, request.maxTokens().orElse(room)))
                .withEndTokens(worker.folder().endTokens())
                .withStopTexts(request.stop())
                .withStartToken(worker.folder().startToken());
        return isChat()
                ? worker.folder()
                        .chatTemplate()
                        .ending(worker.folder().tokenizer())
                        .addedTo(options)
                : options;
    }

    private boolean isCancelled() {
        return cancelled || System.nanoTime() - deadline > 0;
    }

    /** Ends them before their time; nobody waits any more. */
    void cancel() {
        cancelled = true;
    }

    /**
     * Runs them, and writes them when they have ended, or as they come.
     *
     * @throws IOException if the client is gone; the answers end then
     */
    void write(Exchange exchange) throws IOException, InterruptedException {
        choices.forEach(Choice::start);
        try {
            if (request.stream()) {
                stream(exchange);
            } else {
                exchange.sendJson(200, whole());
            }
        } finally {
            cancel();
        }
    }

    private ObjectNode whole() throws InterruptedException {
        List<List<TokenLogprobs>> logprobs = new ArrayList<>();
        choices.forEach(_ -> logprobs.add(new ArrayList<>()));
        for (int open = choices.size(); open > 0; ) {
            switch (events.take()) {
                case Choice.Piece piece -> logprobs.get(piece.choice().index()).addAll(piece.logprobs());
                case Choice.End _ -> open--;
            }
        }
        ObjectNode answer = head(isChat() ? "chat.completion" : "text_completion");
        ArrayNode list = answer.putArray("choices");
        for (Choice choice : choices) {
            GenerationResult result = result(choice);
            ObjectNode each = list.addObject().put("index", choice.index());
            if (isChat()) {
                each.putObject("message")
                        .put("role", "assistant")
                        .put("content", choice.text())
                        .putNull("refusal");
            } else {
                each.put("text", echoed(choice) + choice.text());
            }
            putLogprobs(each, logprobs.get(choice.index()));
            each.put("finish_reason", reason(result));
            if (request.receipt()) {
                each.set("receipt", choice.receipt().toJson());
            }
        }
        answer.set("usage", usage());
        return answer;
    }

    private String echoed(Choice choice) {
        return request.echo()
                ? worker.folder()
                        .usableTokenizer()
                        .map(tokenizer -> tokenizer.decode(choice.prompt()))
                        .orElse("")
                : "";
    }

    private ObjectNode head(String object) {
        return JSON.objectNode()
                .put("id", id)
                .put("object", object)
                .put("created", created)
                .put("model", worker.name())
                .put("system_fingerprint", fingerprint());
    }

    /** The arithmetic contract's version and the model's hash: what an answer depends on beside the request. */
    private String fingerprint() {
        return "contract-" + ArithmeticContract.VERSION + "-" + worker.hash().substring(0, FINGERPRINT_DIGITS);
    }

    private GenerationResult result(Choice choice) {
        try {
            return choice.result();
        } catch (InvalidRequest e) {
            throw AnswerRequest.refused(e);
        } catch (RuntimeException e) {
            throw ApiException.failed("the answer failed: " + e.getMessage());
        }
    }

    private static String reason(GenerationResult result) {
        return switch (result.stopReason()) {
            case EOS, STOP -> "stop";
            case LENGTH, CONTEXT, CANCELLED -> "length";
        };
    }

    private void putLogprobs(ObjectNode choice, List<TokenLogprobs> logprobs) {
        if (request.topLogprobs().isEmpty()) {
            choice.putNull("logprobs");
        } else if (isChat()) {
            ArrayNode content = choice.putObject("logprobs").putArray("content");
            logprobs.forEach(each -> content.add(each.toJson()));
        } else {
            ObjectNode json = choice.putObject("logprobs");
            ArrayNode tokens = json.putArray("tokens");
            ArrayNode values = json.putArray("token_logprobs");
            ArrayNode tops = json.putArray("top_logprobs");
            for (TokenLogprobs each : logprobs) {
                tokens.add(each.text());
                values.add(each.logprob());
                ObjectNode top = tops.addObject();
                each.top().forEach(other -> top.put(other.text(), other.logprob()));
            }
        }
    }

    private ObjectNode usage() {
        int prompt = 0;
        int generated = 0;
        int reused = 0;
        for (Choice choice : choices) {
            GenerationResult result = choice.result();
            generated += result.ids().length;
            reused += result.reusedTokens();
            prompt += choice.index() % request.choices() == 0 ? result.promptIds().length : 0;
        }
        ObjectNode usage = JSON.objectNode()
                .put("prompt_tokens", prompt)
                .put("completion_tokens", generated)
                .put("total_tokens", prompt + generated);
        usage.putObject("prompt_tokens_details").put("cached_tokens", Math.min(reused, prompt));
        return usage;
    }

    private void stream(Exchange exchange) throws IOException, InterruptedException {
        exchange.header("X-Accel-Buffering", "no");
        Choice.Event first = firstEvent();
        try (OutputStream out = exchange.events()) {
            for (Choice choice : choices) {
                begin(out, choice);
            }
            int open = choices.size();
            for (Choice.Event event = first; open > 0; event = open > 0 ? next(out) : event) {
                switch (event) {
                    case Choice.Piece piece -> send(out, piece(piece));
                    case Choice.End end -> {
                        open--;
                        if (!sendEnd(out, end.choice())) {
                            return;
                        }
                    }
                }
            }
            if (request.streamUsage()) {
                ObjectNode last = chunk();
                last.putArray("choices");
                last.set("usage", usage());
                send(out, last);
            } else {
                usage();
            }
            write(out, "data: [DONE]\n\n");
        }
    }

    /** What fails at once is an error, and no stream that ends at once. */
    private Choice.Event firstEvent() throws InterruptedException {
        Choice.Event first = events.take();
        if (first instanceof Choice.End end) {
            result(end.choice());
        }
        return first;
    }

    /** A comment now and then tells whether the client is there, and the client that we are. */
    private Choice.Event next(OutputStream out) throws IOException, InterruptedException {
        Choice.Event event = events.poll(KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS);
        while (event == null) {
            write(out, ": still here\n\n");
            event = events.poll(KEEP_ALIVE.toMillis(), TimeUnit.MILLISECONDS);
        }
        return event;
    }

    private ObjectNode chunk() {
        ObjectNode chunk = head(isChat() ? "chat.completion.chunk" : "text_completion");
        if (request.streamUsage()) {
            chunk.putNull("usage");
        }
        return chunk;
    }

    private void begin(OutputStream out, Choice choice) throws IOException {
        ObjectNode chunk = chunk();
        ObjectNode each = chunk.putArray("choices").addObject().put("index", choice.index());
        if (isChat()) {
            each.putObject("delta").put("role", "assistant").put("content", "");
            each.putNull("logprobs").putNull("finish_reason");
            send(out, chunk);
        } else if (request.echo()) {
            each.put("text", echoed(choice)).putNull("logprobs").putNull("finish_reason");
            send(out, chunk);
        }
    }

    private ObjectNode piece(Choice.Piece piece) {
        ObjectNode chunk = chunk();
        ObjectNode each = chunk.putArray("choices")
                .addObject()
                .put("index", piece.choice().index());
        if (isChat()) {
            each.putObject("delta").put("content", piece.text());
        } else {
            each.put("text", piece.text());
        }
        putLogprobs(each, piece.logprobs());
        each.putNull("finish_reason");
        return chunk;
    }

    /** @return false if the answer failed, which ends the stream */
    private boolean sendEnd(OutputStream out, Choice choice) throws IOException {
        GenerationResult result;
        try {
            result = result(choice);
        } catch (ApiException e) {
            send(out, e.toJson());
            return false;
        }
        ObjectNode chunk = chunk();
        ObjectNode each = chunk.putArray("choices").addObject().put("index", choice.index());
        if (isChat()) {
            each.putObject("delta");
        } else {
            each.put("text", "");
        }
        each.putNull("logprobs").put("finish_reason", reason(result));
        if (request.receipt()) {
            each.set("receipt", choice.receipt().toJson());
        }
        send(out, chunk);
        return true;
    }

    private static void send(OutputStream out, ObjectNode json) throws IOException {
        write(out, "data: " + json + "\n\n");
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    /** For a log. */
    @Override
    public String toString() {
        return String.format(Locale.ROOT, "%s: %d answers of %s", id, choices.size(), worker.name());
    }

    /** Of a model, or why there is none, for requests that need one. */
    static Tokenizer tokenizer(ModelWorker worker) {
        Optional<Tokenizer> tokenizer = worker.folder().usableTokenizer();
        return tokenizer.orElseThrow(
                () -> ApiException.invalid("model", "the model " + worker.name() + " has no tokenizer"));
    }
}
