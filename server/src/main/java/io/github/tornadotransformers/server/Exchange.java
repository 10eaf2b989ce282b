package io.github.tornadotransformers.server;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;

/** A request and its response, in blocking reads and writes. */
final class Exchange {
    private static final JsonMapper JSON = new JsonMapper(JsonFactory.builder()
            .streamReadConstraints(
                    StreamReadConstraints.builder().maxNestingDepth(64).build())
            .build());

    private final Request request;
    private final Response response;

    Exchange(Request request, Response response) {
        this.request = request;
        this.response = response;
        request.addIdleTimeoutListener(_ -> false);
    }

    String method() {
        return request.getMethod();
    }

    String path() {
        return Request.getPathInContext(request);
    }

    HttpFields headers() {
        return request.getHeaders();
    }

    /**
     * @param most bytes that are taken
     * @throws ApiException if there are more, or they are no JSON
     */
    JsonNode json(long most) throws IOException {
        if (request.getLength() > most) {
            throw ApiException.tooLarge(most);
        }
        byte[] body;
        try (InputStream stream = Content.Source.asInputStream(request)) {
            body = stream.readNBytes(Math.toIntExact(most) + 1);
        }
        if (body.length > most) {
            throw ApiException.tooLarge(most);
        }
        try {
            JsonNode json = JSON.readTree(body);
            if (json.isMissingNode()) {
                throw ApiException.invalid(null, "the request has no body, expected a JSON object");
            }
            return json;
        } catch (JacksonException e) {
            throw ApiException.invalid(
                    null,
                    "the request is not valid JSON: " + e.getOriginalMessage().replaceAll("\\s+", " "));
        }
    }

    void header(String name, String value) {
        response.getHeaders().put(name, value);
    }

    int status() {
        return response.getStatus();
    }

    boolean isCommitted() {
        return response.isCommitted();
    }

    void send(int status, String contentType, byte[] body) throws IOException {
        response.setStatus(status);
        header(HttpHeader.CONTENT_TYPE.asString(), contentType);
        response.getHeaders().put(HttpHeader.CONTENT_LENGTH, body.length);
        try (OutputStream out = Content.Sink.asOutputStream(response)) {
            out.write(body);
        }
    }

    void sendJson(int status, JsonNode json) throws IOException {
        send(status, "application/json", json.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Server-sent events, until the stream is closed. */
    OutputStream events() {
        response.setStatus(200);
        header(HttpHeader.CONTENT_TYPE.asString(), "text/event-stream; charset=utf-8");
        header(HttpHeader.CACHE_CONTROL.asString(), "no-cache");
        return Content.Sink.asOutputStream(response);
    }
}
