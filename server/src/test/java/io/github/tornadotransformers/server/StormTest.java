package io.github.tornadotransformers.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.testsupport.RandomData;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** No answer depends on who else is asking, and nothing is left when they have gone. */
@Timeout(300)
class StormTest {
    private static final int TOGETHER = 64;
    private static final String PATH = "/v1/completions";

    @TempDir
    private Path folder;

    /** {@code -Dstorm.requests=200} asks as many. */
    @Test
    void everyAnswerIsWhatItIsAlone() throws InterruptedException, ExecutionException, IOException {
        TestServer.model(folder, 5);
        int count = Integer.getInteger("storm.requests", 60);
        RandomData random = new RandomData(Long.getLong("storm.seed", 1));
        List<ObjectNode> requests = requests(count, random);
        try (TestServer server = TestServer.start(
                ServerSettings.DEFAULT.withWaiting(2 * count), TestServer.served(TestServer.MODEL, folder))) {
            List<JsonNode> alone = requests.stream()
                    .map(each -> receipts(server.post(PATH, each.toString())))
                    .toList();
            long threads = 0;
            for (int run = 0; run < 3; run++) {
                storm(server, requests, alone, new RandomData(run));
                await(() -> server.server.open() == 0);
                for (String nothing : List.of("answers_open", "answers_running", "cache_pages_shared")) {
                    await(() -> server.get("/metrics")
                            .body()
                            .contains("transformers_" + nothing + "{model=\"small\"} 0.0"));
                }
                threads = run == 0 ? serverThreads() : threads;
            }
            assertThat(serverThreads()).isLessThanOrEqualTo(threads + 8);
            assertThat(receipts(server.post(PATH, requests.getFirst().toString())))
                    .isEqualTo(alone.getFirst());
        }
    }

    /** All but those of the client, which has as many as there were answers at the same moment. */
    private static long serverThreads() {
        Thread[] all = new Thread[2 * Thread.activeCount()];
        return Arrays.stream(all, 0, Thread.enumerate(all))
                .filter(thread -> !thread.getName().startsWith("HttpClient-"))
                .count();
    }

    private static List<ObjectNode> requests(int count, RandomData random) {
        String shared = "hello wor ".repeat(random.between(5, 14));
        List<ObjectNode> requests = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ObjectNode request = TestServer.JSON.createObjectNode();
            String prompt = random.coin() ? shared.substring(0, random.between(1, shared.length())) : "he" + i;
            request.put("prompt", prompt)
                    .put("max_tokens", random.between(1, 40))
                    .put("seed", i)
                    .put("temperature", random.coin() ? 0 : 0.9)
                    .put("top_k", random.between(0, 20))
                    .put("n", random.between(1, 2))
                    .put("receipt", true);
            requests.add(request);
        }
        return requests;
    }

    /** Some streams are cut by the client in the middle. */
    private static void storm(TestServer server, List<ObjectNode> requests, List<JsonNode> alone, RandomData random)
            throws InterruptedException, ExecutionException, IOException {
        Semaphore together = new Semaphore(TOGETHER);
        List<Future<?>> all = new ArrayList<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < requests.size(); i++) {
                int index = i;
                int delay = random.between(0, 30);
                int kind = random.between(0, 5);
                all.add(clients.submit((Callable<Void>) () -> {
                    Thread.sleep(delay);
                    together.acquire();
                    try {
                        if (kind == 0) {
                            cut(server, requests.get(index));
                        } else if (kind == 1) {
                            ObjectNode streamed = requests.get(index).deepCopy().put("stream", true);
                            assertThat(streamedReceipts(server.post(PATH, streamed.toString())))
                                    .isEqualTo(alone.get(index));
                        } else {
                            assertThat(receipts(server.post(
                                            PATH, requests.get(index).toString())))
                                    .isEqualTo(alone.get(index));
                        }
                    } finally {
                        together.release();
                    }
                    return null;
                }));
            }
        }
        for (Future<?> each : all) {
            each.get();
        }
    }

    /** Asks for a stream of many tokens, reads its beginning and goes. */
    private static void cut(TestServer server, ObjectNode request) throws IOException {
        byte[] body = request.deepCopy()
                .put("stream", true)
                .put("max_tokens", 150)
                .toString()
                .getBytes(StandardCharsets.UTF_8);
        try (Socket socket =
                new Socket(server.address().getHost(), server.address().getPort())) {
            OutputStream out = socket.getOutputStream();
            out.write(("POST " + PATH + " HTTP/1.1\r\nHost: x\r\nContent-Length: " + body.length + "\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII));
            out.write(body);
            out.flush();
            InputStream in = socket.getInputStream();
            assertThat(in.read(new byte[64])).isPositive();
            socket.setSoLinger(true, 0);
        }
    }

    /** Of every choice: the hashes of all logits, and the ids. */
    private static JsonNode receipts(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        List<JsonNode> choices = new ArrayList<>();
        TestServer.json(response).get("choices").forEach(choices::add);
        return kept(choices);
    }

    private static JsonNode streamedReceipts(HttpResponse<String> response) {
        List<JsonNode> choices = new ArrayList<>();
        TestServer.events(response.body())
                .forEach(event -> event.get("choices").forEach(choice -> {
                    if (choice.has("receipt")) {
                        choices.add(choice);
                    }
                }));
        choices.sort((a, b) ->
                Integer.compare(a.get("index").intValue(), b.get("index").intValue()));
        return kept(choices);
    }

    private static JsonNode kept(List<JsonNode> choices) {
        assertThat(choices).isNotEmpty().allSatisfy(choice -> {
            JsonNode receipt = choice.get("receipt");
            assertThat(receipt.get("ids")).isNotEmpty();
            assertThat(receipt.get("logits").size())
                    .isGreaterThanOrEqualTo(receipt.get("ids").size());
        });
        return TestServer.JSON.valueToTree(choices.stream()
                .map(choice -> List.of(
                        choice.get("receipt").get("logits"),
                        choice.get("receipt").get("ids")))
                .toList());
    }

    static void await(BooleanSupplier condition) throws InterruptedException {
        long deadline = System.nanoTime() + Duration.ofSeconds(60).toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime()).as("waited for a minute").isLessThan(deadline);
            Thread.sleep(20);
        }
    }
}
