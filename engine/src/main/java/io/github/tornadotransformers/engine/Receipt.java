package io.github.tornadotransformers.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.ArithmeticContract;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationOptions;
import io.github.tornadotransformers.models.generation.GenerationResult;
import io.github.tornadotransformers.models.generation.LogitChanges;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * All that an answer depends on, and what proves it: whoever has the model can run it again on any engine that keeps the arithmetic
 * contract, and gets the same logits, bit for bit.
 *
 * @param modelHash of the weights, as {@link io.github.tornadotransformers.models.checkpoint.Checkpoint#hash} gives it
 * @param kvType of keys and values
 * @param context positions that there were
 * @param maxTokens that were asked for
 * @param ids that were chosen, without the end token
 * @param logits a hash for each token that was chosen, the end token included, as {@link LogitsHashes} makes them
 */
public record Receipt(
        String model,
        String modelHash,
        DType dtype,
        KvType kvType,
        int context,
        List<Integer> promptIds,
        SamplingOptions sampling,
        int maxTokens,
        Set<Integer> endTokens,
        List<String> stopTexts,
        List<Integer> ids,
        StopReason stopReason,
        List<String> logits) {
    /** Of this form. */
    private static final int VERSION = 1;

    private static final String RECEIPT = "receipt";
    private static final String CONTRACT = "contract";
    private static final String FREQUENCY_PENALTY = "frequency_penalty";
    private static final String PRESENCE_PENALTY = "presence_penalty";
    private static final String LOGIT_BIAS = "logit_bias";

    public Receipt {
        promptIds = List.copyOf(promptIds);
        endTokens = Set.copyOf(endTokens);
        stopTexts = List.copyOf(stopTexts);
        ids = List.copyOf(ids);
        logits = List.copyOf(logits);
    }

    /** How an answer came about. */
    public static Receipt of(
            String model,
            String modelHash,
            EngineSession session,
            SamplingOptions sampling,
            GenerationOptions options,
            GenerationResult result,
            List<String> logits) {
        return new Receipt(
                model,
                modelHash,
                session.dtype(),
                session.kvType(),
                session.forward().program().contextLength(),
                list(result.promptIds()),
                sampling,
                options.maxTokens(),
                options.endTokens(),
                options.stopTexts(),
                list(result.ids()),
                result.stopReason(),
                logits);
    }

    private static List<Integer> list(int[] ids) {
        return IntStream.of(ids).boxed().toList();
    }

    /** How the answer is asked for again; one that was cancelled, up to where it was. */
    public GenerationOptions options() {
        int tokens = stopReason == StopReason.CANCELLED ? logits.size() : maxTokens;
        return GenerationOptions.ofTokens(tokens).withEndTokens(endTokens).withStopTexts(stopTexts);
    }

    public ObjectNode toJson() {
        ObjectNode json = JsonNodeFactory.instance
                .objectNode()
                .put(RECEIPT, VERSION)
                .put(CONTRACT, ArithmeticContract.VERSION)
                .put("model", model)
                .put("model_sha256", modelHash)
                .put("dtype", spelled(dtype))
                .put("kv_dtype", spelled(kvType))
                .put("context", context);
        json.set("prompt_ids", array(promptIds));
        json.put("temperature", sampling.temperature())
                .put("top_k", sampling.topK())
                .put("top_p", sampling.topP())
                .put("min_p", sampling.minP())
                .put("repetition_penalty", sampling.repetitionPenalty())
                .put("seed", sampling.seed())
                .put("greedy", sampling.greedy())
                .put("tokens", maxTokens);
        putChanges(json, sampling.changes());
        json.set("end_tokens", array(new TreeSet<>(endTokens)));
        ArrayNode stop = json.putArray("stop");
        stopTexts.forEach(stop::add);
        json.set("ids", array(ids));
        json.put("stop_reason", stopReason.jsonName());
        ArrayNode hashes = json.putArray("logits");
        logits.forEach(hashes::add);
        return json;
    }

    /** Only where there are any. */
    private static void putChanges(ObjectNode json, LogitChanges changes) {
        if (!changes.equals(LogitChanges.NONE)) {
            json.put(FREQUENCY_PENALTY, changes.frequencyPenalty()).put(PRESENCE_PENALTY, changes.presencePenalty());
            ObjectNode bias = json.putObject(LOGIT_BIAS);
            changes.bias().forEach((id, value) -> bias.put(id.toString(), value));
        }
    }

    private static LogitChanges changes(JsonNode json) {
        Map<Integer, Double> bias = new TreeMap<>();
        try {
            json.path(LOGIT_BIAS)
                    .properties()
                    .forEach(entry -> bias.put(
                            Integer.valueOf(entry.getKey()), entry.getValue().doubleValue()));
        } catch (NumberFormatException e) {
            throw new InvalidRequest("the receipt's " + LOGIT_BIAS + " has a key that is no token id");
        }
        return new LogitChanges(
                json.path(FREQUENCY_PENALTY).doubleValue(),
                json.path(PRESENCE_PENALTY).doubleValue(),
                bias);
    }

    private static String spelled(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    private static ArrayNode array(Iterable<Integer> values) {
        ArrayNode array = JsonNodeFactory.instance.arrayNode();
        values.forEach(array::add);
        return array;
    }

    /**
     * Reads what {@link #toJson} gave.
     *
     * @throws InvalidRequest if it is no receipt, or of another contract
     */
    public static Receipt parse(JsonNode json) {
        if (!json.isObject() || json.path(RECEIPT).asInt() != VERSION) {
            throw new InvalidRequest("no receipt of form " + VERSION + " was found");
        }
        int contract = json.path(CONTRACT).asInt();
        if (contract != ArithmeticContract.VERSION) {
            throw new InvalidRequest(
                    "the receipt is of arithmetic contract " + contract + ", and this program keeps contract "
                            + ArithmeticContract.VERSION + ": use the release that made it");
        }
        Fields fields = new Fields(json);
        return new Receipt(
                fields.text("model"),
                fields.text("model_sha256"),
                fields.constant("dtype", DType.class),
                fields.constant("kv_dtype", KvType.class),
                fields.whole("context"),
                fields.ids("prompt_ids"),
                new SamplingOptions(
                        fields.number("temperature"),
                        fields.whole("top_k"),
                        fields.number("top_p"),
                        fields.number("min_p"),
                        fields.number("repetition_penalty"),
                        fields.field("seed", JsonNode::canConvertToLong, "a whole number")
                                .longValue(),
                        fields.field("greedy", JsonNode::isBoolean, "true or false")
                                .booleanValue(),
                        changes(json)),
                fields.whole("tokens"),
                new HashSet<>(fields.ids("end_tokens")),
                fields.texts("stop"),
                fields.ids("ids"),
                fields.constant("stop_reason", StopReason.class),
                fields.texts("logits"));
    }

    /** The fields of a receipt; what is missing or of another type is named. */
    private record Fields(JsonNode json) {
        JsonNode field(String name, Predicate<JsonNode> fits, String expected) {
            JsonNode field = json.path(name);
            if (field.isMissingNode() || !fits.test(field)) {
                throw new InvalidRequest("the receipt's " + name + " is "
                        + (field.isMissingNode() ? "missing" : field.toString()) + ", expected " + expected);
            }
            return field;
        }

        String text(String name) {
            return field(name, JsonNode::isTextual, "a text").textValue();
        }

        int whole(String name) {
            return field(name, node -> node.isIntegralNumber() && node.canConvertToInt(), "a whole number")
                    .intValue();
        }

        double number(String name) {
            return field(name, JsonNode::isNumber, "a number").doubleValue();
        }

        <T extends Enum<T>> T constant(String name, Class<T> type) {
            String text = text(name);
            for (T each : type.getEnumConstants()) {
                if (spelled(each).equals(text)) {
                    return each;
                }
            }
            throw new InvalidRequest("the receipt's " + name + " is " + text + ", which is not known");
        }

        List<Integer> ids(String name) {
            List<Integer> ids = new ArrayList<>();
            for (JsonNode each : field(name, JsonNode::isArray, "a list of token ids")) {
                if (!each.isIntegralNumber() || !each.canConvertToInt()) {
                    throw new InvalidRequest("the receipt's " + name + " has " + each + ", expected token ids");
                }
                ids.add(each.intValue());
            }
            return ids;
        }

        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (JsonNode each : field(name, JsonNode::isArray, "a list of texts")) {
                if (!each.isTextual()) {
                    throw new InvalidRequest("the receipt's " + name + " has " + each + ", expected texts");
                }
                texts.add(each.textValue());
            }
            return texts;
        }
    }
}
