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
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;

/** A server that answers as the Hugging Face hub does: large files through a redirect that tells their checksum. */
final class FakeHub implements AutoCloseable {
    private static final String ELSEWHERE = "/elsewhere";

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
    private volatile OptionalInt status = OptionalInt.empty();

    /** @param authorization and {@code range}: the headers; null where they are absent */
    record Request(String path, String authorization, String range) {}

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
        files.put(path, content.getBytes(StandardCharsets.UTF_8));
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
        requests.add(new Request(path, headers.getFirst("Authorization"), headers.getFirst("Range")));
        String name = path.startsWith(ELSEWHERE) ? path.substring(ELSEWHERE.length()) : path;
        byte[] content = files.get(name);
        if (status.isPresent()) {
            exchange.sendResponseHeaders(status.getAsInt(), -1);
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

    private void redirect(HttpExchange exchange, String path, byte[] content) throws IOException {
        describe(exchange, content);
        String other = address().replace("127.0.0.1", "localhost");
        exchange.getResponseHeaders().add("Location", other + ELSEWHERE + path + "?signature=hidden");
        exchange.sendResponseHeaders(302, -1);
    }

    private static void describe(HttpExchange exchange, byte[] content) {
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
