package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * How likely a token was by the model's own logits, before temperature and filters, and the likeliest beside it.
 *
 * @param logprob natural logarithm of the probability
 */
record TokenLogprobs(int id, String text, double logprob, List<TokenLogprobs> top) {
    static TokenLogprobs of(
            int token, float[] logits, int offset, int vocabSize, int count, Optional<Tokenizer> tokenizer) {
        double largest = IntStream.range(0, vocabSize)
                .mapToDouble(id -> logits[offset + id])
                .max()
                .orElseThrow();
        double sum = 0;
        for (int id = 0; id < vocabSize; id++) {
            sum += Math.exp(logits[offset + id] - largest);
        }
        double all = largest + Math.log(sum);
        List<TokenLogprobs> top = new ArrayList<>();
        for (int id : likeliest(logits, offset, vocabSize, count)) {
            top.add(new TokenLogprobs(id, text(id, tokenizer), logits[offset + id] - all, List.of()));
        }
        return new TokenLogprobs(token, text(token, tokenizer), logits[offset + token] - all, top);
    }

    /** The lowest id first where several are equal. */
    private static List<Integer> likeliest(float[] logits, int offset, int vocabSize, int count) {
        List<Integer> ranked = new ArrayList<>();
        for (int id = 0; id < vocabSize && count > 0; id++) {
            int rank = ranked.size();
            while (rank > 0 && logits[offset + id] > logits[offset + ranked.get(rank - 1)]) {
                rank--;
            }
            if (rank < count) {
                ranked.add(rank, id);
                if (ranked.size() > count) {
                    ranked.removeLast();
                }
            }
        }
        return ranked;
    }

    private static String text(int id, Optional<Tokenizer> tokenizer) {
        return tokenizer
                .map(known -> known.isSpecial(id) ? known.specialText(id) : known.decode(new int[] {id}))
                .orElse("");
    }

    /** As a chat's answer has it. */
    ObjectNode toJson() {
        ObjectNode json = own();
        ArrayNode likeliest = json.putArray("top_logprobs");
        top.forEach(each -> likeliest.add(each.own()));
        return json;
    }

    private ObjectNode own() {
        ObjectNode json =
                JsonNodeFactory.instance.objectNode().put("token", text).put("logprob", logprob);
        ArrayNode bytes = json.putArray("bytes");
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            bytes.add(Byte.toUnsignedInt(each));
        }
        return json;
    }
}
