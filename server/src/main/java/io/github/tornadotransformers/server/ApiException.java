package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.TransformersException;
import java.util.Optional;

/** A request that is refused, in OpenAI's shape of an error. */
final class ApiException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private static final String INVALID = "invalid_request_error";

    private final int status;
    private final String type;
    private final String param;
    private final String code;

    private ApiException(int status, String type, String param, String code, String message) {
        super(message);
        this.status = status;
        this.type = type;
        this.param = param;
        this.code = code;
    }

    /** @param param the field that is wrong; null: none */
    static ApiException invalid(String param, String message) {
        return new ApiException(400, INVALID, param, null, message);
    }

    static ApiException unsupported(String param, String message) {
        return new ApiException(400, INVALID, param, "unsupported_parameter", message);
    }

    static ApiException unknownModel(String message) {
        return new ApiException(404, INVALID, "model", "model_not_found", message);
    }

    static ApiException notFound(String message) {
        return new ApiException(404, INVALID, null, "not_found", message);
    }

    static ApiException wrongMethod(String message) {
        return new ApiException(405, INVALID, null, "method_not_allowed", message);
    }

    static ApiException unauthorized() {
        return new ApiException(
                401,
                INVALID,
                null,
                "invalid_api_key",
                "the API key is missing or wrong: send it as Authorization: Bearer KEY");
    }

    static ApiException tooLarge(long most) {
        return new ApiException(
                413,
                INVALID,
                null,
                "request_too_large",
                "the request has more than the " + most + " bytes that are taken");
    }

    static ApiException busy(String message) {
        return new ApiException(503, "server_error", null, "overloaded", message);
    }

    static ApiException failed(String message) {
        return new ApiException(500, "server_error", null, null, message);
    }

    static ApiException notLoaded(String model, TransformersException reason) {
        ApiException refused = failed("the model " + model + " cannot be loaded: " + reason.getMessage());
        refused.initCause(reason);
        return refused;
    }

    int status() {
        return status;
    }

    Optional<String> retryAfterSeconds() {
        return status == 503 ? Optional.of("1") : Optional.empty();
    }

    ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.putObject("error")
                .put("message", getMessage())
                .put("type", type)
                .put("param", param)
                .put("code", code);
        return json;
    }
}
