package io.github.tornadotransformers.runner.hub;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A server that answers as the Hugging Face hub does: large files through a redirect that tells their checksum. */
final class FakeHub implements AutoCloseable {
    private static final String ELSEWHERE = "/elsewhere";
    private static final int PATIENCE_SECONDS = 20;

    private final HttpServer server;
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final Map<String, Integer> cutsOnce = new ConcurrentHashMap<>();
    private final Map<String, Integer> cuts = new ConcurrentHashMap<>();
    private final Set<String> corrupt = ConcurrentHashMap.newKeySet();
    private final Set<String> otherHost = ConcurrentHashMap.newKeySet();
    private final Set<String> failing = ConcurrentHashMap.newKeySet();
    private final Set<String> failingAlways = ConcurrentHashMap.newKeySet();
    private final Map<String, String> locations = new ConcurrentHashMap<>();
    private final Set<String> stalling = ConcurrentHashMap.newKeySet();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Map<String, Refusal> refusals = new ConcurrentHashMap<>();
    private final Map<String, Refusal> refusalsOnce = new ConcurrentHashMap<>();
    private final Set<String> shifted = ConcurrentHashMap.newKeySet();
    private volatile OptionalInt status = OptionalInt.empty();
    private volatile Optional<String> commit = Optional.empty();
    private volatile boolean tellsEtags = true;
    private volatile Optional<String> lastChange = Optional.empty();
    private volatile Optional<CyclicBarrier> together = Optional.empty();

    /** An answer without a file. */
    private record Refusal(int status, String header, String value) {}

    /** @param authorization and {@code range}: the headers; null where they are absent */
    record Request(String path, String rawPath, String authorization, String range) {}

    FakeHub() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
    }

    String address() {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    List<Request> requests() {
        return requests;
    }

    void put(String path, String content) {
        put(path, content.getBytes(StandardCharsets.UTF_8));
    }

    void put(String path, byte[] content) {
        files.put(path, content);
    }

    void remove(String path) {
        files.remove(path);
    }

    void answerAllWith(int code) {
        status = OptionalInt.of(code);
    }

    /** The body of the next answer ends after so many bytes. */
    void cutOnce(String path, int bytes) {
        cutsOnce.put(path, bytes);
    }

    void cutAlways(String path, int bytes) {
        cuts.put(path, bytes);
    }

    /** One byte of the body is another than the checksum was made of. */
    void corrupt(String path) {
        corrupt.add(path);
    }

    /** The redirect leads to another name of this machine, by a signed address. */
    void redirectToOtherHost(String path) {
        otherHost.add(path);
    }

    /** The next answer stops after so many bytes, but the connection stays open. */
    void stallOnce(String path, int bytes) {
        cutsOnce.put(path, bytes);
        stalling.add(path);
    }

    void failOnce(String path) {
        failing.add(path);
    }

    void failAlways(String path) {
        failingAlways.add(path);
    }

    /** All answers tell that their files are of this commit. */
    void tellCommit(String hash) {
        commit = Optional.of(hash);
    }

    /** As a plain server of files answers. */
    void tellNoEtags() {
        tellsEtags = false;
    }

    /** All answers tell that their files were last changed then. */
    void changedAt(String time) {
        lastChange = Optional.of(time);
    }

    /** Whatever is asked for below a path is refused, with a header that says more. */
    void refuse(String prefix, int code, String header, String value) {
        refusals.put(prefix, new Refusal(code, header, value));
    }

    void refuseOnce(String path, int code, String header, String value) {
        refusalsOnce.put(path, new Refusal(code, header, value));
    }

    /** Answers to ranges begin a byte later than asked for, and say so. */
    void shiftRanges(String path) {
        shifted.add(path);
    }

    /** Files whose names end in {@code -of-N.safetensors} are sent only when so many are asked for at the same time. */
    void sendTogether(int files) {
        together = Optional.of(new CyclicBarrier(files));
    }

    /** @param location as it stands in the header */
    void redirectTo(String path, String location) {
        locations.put(path, location);
    }

    @Override
    public void close() {
        closed.countDown();
        server.stop(0);
    }

    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        Headers headers = exchange.getRequestHeaders();
        requests.add(new Request(
                path,
                exchange.getRequestURI().getRawPath(),
                headers.getFirst("Authorization"),
                headers.getFirst("Range")));
        String name = path.startsWith(ELSEWHERE) ? path.substring(ELSEWHERE.length()) : path;
        byte[] content = files.get(name);
        commit.ifPresent(hash -> exchange.getResponseHeaders().add("X-Repo-Commit", hash));
        Optional<Refusal> refusal = refusal(name);
        if (status.isPresent()) {
            exchange.sendResponseHeaders(status.getAsInt(), -1);
        } else if (refusal.isPresent()) {
            exchange.getResponseHeaders()
                    .add(refusal.get().header(), refusal.get().value());
            exchange.sendResponseHeaders(refusal.get().status(), -1);
        } else if (content == null) {
            exchange.sendResponseHeaders(404, -1);
        } else if (locations.containsKey(path)) {
            exchange.getResponseHeaders().add("Location", locations.get(path));
            exchange.sendResponseHeaders(302, -1);
        } else if (failing.remove(name) || (failingAlways.contains(name) && !name.equals(path))) {
            exchange.sendResponseHeaders(503, -1);
        } else if (otherHost.contains(path)) {
            redirect(exchange, path, content);
        } else {
            send(exchange, name, content);
        }
        exchange.close();
    }

    private Optional<Refusal> refusal(String path) {
        return Optional.ofNullable(refusalsOnce.remove(path))
                .or(() -> refusals.entrySet().stream()
                        .filter(entry -> path.startsWith(entry.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst());
    }

    private void redirect(HttpExchange exchange, String path, byte[] content) throws IOException {
        describe(exchange, content);
        String other = address().replace("127.0.0.1", "localhost");
        exchange.getResponseHeaders().add("Location", other + ELSEWHERE + path + "?signature=hidden");
        exchange.sendResponseHeaders(302, -1);
    }

    private void describe(HttpExchange exchange, byte[] content) {
        lastChange.ifPresent(time -> exchange.getResponseHeaders().add("Last-Modified", time));
        if (!tellsEtags) {
            return;
        }
        exchange.getResponseHeaders().add("X-Linked-ETag", '"' + sha256(content) + '"');
        exchange.getResponseHeaders().add("X-Linked-Size", String.valueOf(content.length));
    }

    private void send(HttpExchange exchange, String name, byte[] content) throws IOException {
        String range = exchange.getRequestHeaders().getFirst("Range");
        int from = range == null ? 0 : Integer.parseInt(range.replaceAll("\\D", ""));
        if (from >= content.length && range != null) {
            exchange.sendResponseHeaders(416, -1);
            return;
        }
        if (range != null && shifted.contains(name)) {
            from++;
            exchange.getResponseHeaders()
                    .add("Content-Range", "bytes " + from + "-" + (content.length - 1) + "/" + content.length);
        }
        if (name.contains("-of-")) {
            together.ifPresent(FakeHub::await);
        }
        describe(exchange, content);
        byte[] body = Arrays.copyOfRange(content, from, content.length);
        if (corrupt.contains(name)) {
            body[body.length / 2] ^= 1;
        }
        Integer once = cutsOnce.remove(name);
        int sent = Math.min(body.length, once == null ? cuts.getOrDefault(name, body.length) : once);
        exchange.sendResponseHeaders(range == null ? 200 : 206, body.length);
        exchange.getResponseBody().write(body, 0, sent);
        exchange.getResponseBody().flush();
        if (stalling.remove(name)) {
            awaitClose();
        }
        if (sent < body.length) {
            throw new IOException("the server ends the connection");
        }
    }

    private static void await(CyclicBarrier barrier) {
        try {
            barrier.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (BrokenBarrierException | TimeoutException e) {
            throw new IllegalStateException("the files are not asked for at the same time", e);
        }
    }

    private void awaitClose() {
        try {
            closed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static String sha256(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
