package io.github.tornadotransformers.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.models.InvalidRequest;
import io.github.tornadotransformers.models.batching.KvType;
import io.github.tornadotransformers.models.checkpoint.DType;
import io.github.tornadotransformers.models.generation.GenerationListener;
import io.github.tornadotransformers.models.generation.SamplingOptions;
import io.github.tornadotransformers.models.generation.StopReason;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ReceiptTest {
    private static final Receipt RECEIPT = new Receipt(
            "a model",
            "c0ffee",
            DType.INT8,
            KvType.BF16,
            77,
            List.of(5, 6),
            new SamplingOptions(0.7, 4, 0.5, 0.1, 1.2, -9_000_000_000L, false),
            3,
            Set.of(9, 2),
            List.of("stop \"here\""),
            List.of(7, 8),
            StopReason.EOS,
            List.of("0123456789abcdef", "1", "2"));

    @Test
    void jsonSaysAllThatIsInIt() {
        assertThat(Receipt.parse(RECEIPT.toJson())).isEqualTo(RECEIPT);
        assertThat(RECEIPT.toJson().toString())
                .isEqualTo(
                        "{\"receipt\":1,\"contract\":2,\"model\":\"a model\",\"model_sha256\":\"c0ffee\",\"dtype\":\"int8\","
                                + "\"kv_dtype\":\"bf16\",\"context\":77,\"prompt_ids\":[5,6],\"temperature\":0.7,\"top_k\":4,"
                                + "\"top_p\":0.5,\"min_p\":0.1,\"repetition_penalty\":1.2,\"seed\":-9000000000,\"greedy\":false,"
                                + "\"tokens\":3,\"end_tokens\":[2,9],\"stop\":[\"stop \\\"here\\\"\"],\"ids\":[7,8],"
                                + "\"stop_reason\":\"eos\",\"logits\":[\"0123456789abcdef\",\"1\",\"2\"]}");
    }

    /** Every field, missing and as an object. */
    @Test
    void whatIsWrongIsNamed() {
        List<String> fields = RECEIPT.toJson()
                .propertyStream()
                .map(java.util.Map.Entry::getKey)
                .toList();
        for (String field : fields.subList(2, fields.size())) {
            ObjectNode without = RECEIPT.toJson();
            without.remove(field);
            assertRefused(without, "the receipt's " + field + " is missing, expected ");
            ObjectNode wrong = RECEIPT.toJson();
            wrong.putObject(field);
            assertRefused(wrong, "the receipt's " + field + " is {}, expected ");
        }
        assertRefused(RECEIPT.toJson().put("dtype", "q4"), "the receipt's dtype is q4, which is not known");
        ObjectNode texts = RECEIPT.toJson();
        texts.putArray("ids").add("5");
        assertRefused(texts, "the receipt's ids has \"5\", expected token ids");
    }

    @Test
    void receiptsOfOtherContractsAreRefused() {
        assertRefused(
                RECEIPT.toJson().put("contract", 1),
                "the receipt is of arithmetic contract 1, and this program keeps contract 2: use the release that made it");
        assertRefused(RECEIPT.toJson().put("receipt", 2), "no receipt of form 1 was found");
        assertThatThrownBy(() -> Receipt.parse(JsonNodeFactory.instance.arrayNode()))
                .hasMessage("no receipt of form 1 was found");
    }

    private static void assertRefused(ObjectNode json, String message) {
        assertThatThrownBy(() -> Receipt.parse(json))
                .isInstanceOf(InvalidRequest.class)
                .hasMessageStartingWith(message);
    }

    /** What was cancelled is asked for up to where it was. */
    @Test
    void aCancelledAnswerIsRunAgainAsFarAsItWent() {
        Receipt cancelled = new Receipt(
                "m",
                "h",
                DType.F32,
                KvType.F32,
                9,
                List.of(1),
                SamplingOptions.GREEDY,
                100,
                Set.of(),
                List.of(),
                List.of(4, 5),
                StopReason.CANCELLED,
                List.of("a", "b"));
        assertThat(cancelled.options().maxTokens()).isEqualTo(2);
        assertThat(RECEIPT.options().maxTokens()).isEqualTo(3);
    }

    /** As Python has it: hashlib.sha256(struct.pack("<3f", 1.5, -0.0, 2.0)).hexdigest()[:16]. */
    @Test
    void logitsAreHashedByTheirBits() {
        LogitsHashes hashes = new LogitsHashes(3, GenerationListener.NONE);
        hashes.chosen(0, new float[] {9, 1.5f, -0f, 2}, 1);
        hashes.chosen(0, new float[] {1.5f, 0f, 2}, 0);
        assertThat(hashes.hashes()).containsExactly("9ea064fce79f3978", "ee7449e4495c801f");
    }
}
