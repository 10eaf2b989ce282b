package io.github.tornadotransformers.models.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.Quoted;
import java.util.stream.IntStream;

/** Reads what a {@code post_processor} puts in front of a text. What it puts behind is of no use to a prompt. */
final class PostProcessor {
    private final String source;

    /** @param source what messages call the file */
    PostProcessor(String source) {
        this.source = source;
    }

    /** @throws CheckpointException if the object is not what the format says */
    int[] front(JsonNode processor) {
        if (processor.isNull()) {
            return new int[0];
        }
        String type = processor.path("type").asText();
        return switch (type) {
            case "ByteLevel" -> new int[0];
            case "TemplateProcessing" -> template(processor);
            case "BertProcessing", "RobertaProcessing" ->
                new int[] {id(processor.path("cls").path(1))};
            case "Sequence" -> sequence(processor.path("processors"));
            default ->
                throw new CheckpointException(
                        source + ": post_processor.type is " + Quoted.text(type) + ", which is not implemented");
        };
    }

    /** What a later processor puts in front stands before what earlier ones did. */
    private int[] sequence(JsonNode processors) {
        IntStream front = IntStream.empty();
        for (JsonNode each : processors) {
            front = IntStream.concat(IntStream.of(front(each)), front);
        }
        return front.toArray();
    }

    private int[] template(JsonNode processor) {
        IntStream.Builder front = IntStream.builder();
        for (JsonNode part : processor.path("single")) {
            if (part.has("Sequence")) {
                return front.build().toArray();
            }
            String token = part.path("SpecialToken").path("id").asText();
            JsonNode ids = processor.path("special_tokens").path(token).path("ids");
            if (ids.isEmpty()) {
                throw new CheckpointException(source + ": the template of post_processor has " + Quoted.text(token)
                        + ", which its special_tokens lack");
            }
            ids.forEach(id -> front.add(id(id)));
        }
        throw new CheckpointException(source + ": the template of post_processor has no place for the text");
    }

    private int id(JsonNode node) {
        if (!node.isInt() || node.intValue() < 0) {
            throw new CheckpointException(source + ": post_processor has " + Quoted.text(node.toString())
                    + " for an id, expected a number from 0");
        }
        return node.intValue();
    }
}
