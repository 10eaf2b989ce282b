package io.github.tornadotransformers.host;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.tornadotransformers.models.SharedData;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Base64;
import java.util.stream.StreamSupport;

/** The stored traces of an independent float64 implementation, and the checkpoints they belong to. */
final class SharedGolden {
    private SharedGolden() {}

    static Path model(String name) {
        return SharedData.require("models/" + name);
    }

    static JsonNode json(String name) {
        try {
            return new ObjectMapper()
                    .readTree(SharedData.require("golden/" + name + ".json").toFile());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static int[] ints(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .mapToInt(JsonNode::intValue)
                .toArray();
    }

    static double[] doubles(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false)
                .mapToDouble(JsonNode::doubleValue)
                .toArray();
    }

    /** The elements of a tensor that is stored as base64 of little-endian float32. */
    static double[] base64Floats(JsonNode tensor) {
        ByteBuffer bytes =
                ByteBuffer.wrap(Base64.getDecoder().decode(tensor.get("data").textValue()));
        bytes.order(ByteOrder.LITTLE_ENDIAN);
        double[] values = new double[bytes.remaining() / Float.BYTES];
        for (int i = 0; i < values.length; i++) {
            values[i] = bytes.getFloat();
        }
        return values;
    }
}
