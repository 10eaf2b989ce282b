package io.github.tornadotransformers.server;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.tornadotransformers.engine.HiddenStates;
import io.github.tornadotransformers.models.InvalidRequest;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.ExecutionException;

/** Texts as vectors: the mean of the last hidden states, over the tokens, which is what can be had of a model that was trained to write. */
final class Embeddings {
    private Embeddings() {}

    /** @param base64 of float32, little-endian, instead of numbers */
    static ObjectNode of(List<AnswerRequest.Prompt> inputs, ModelWorker worker, boolean base64)
            throws InterruptedException {
        List<int[]> texts = new ArrayList<>();
        int tokens = 0;
        for (AnswerRequest.Prompt input : inputs) {
            int[] ids = input.text()
                    .map(text -> Answers.tokenizer(worker).encodePrompt(text))
                    .orElse(input.ids());
            texts.add(ids);
            tokens += ids.length;
        }
        ObjectNode json = JsonNodeFactory.instance.objectNode().put("object", "list");
        ArrayNode data = json.putArray("data");
        for (int[] ids : texts) {
            float[] mean = mean(ids, worker);
            ObjectNode each = data.addObject().put("object", "embedding").put("index", data.size() - 1);
            if (base64) {
                ByteBuffer bytes =
                        ByteBuffer.allocate(mean.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
                bytes.asFloatBuffer().put(mean);
                each.put("embedding", Base64.getEncoder().encodeToString(bytes.array()));
            } else {
                ArrayNode vector = each.putArray("embedding");
                for (float value : mean) {
                    vector.add(value);
                }
            }
        }
        json.put("model", worker.name());
        json.putObject("usage").put("prompt_tokens", tokens).put("total_tokens", tokens);
        return json;
    }

    private static float[] mean(int[] ids, ModelWorker worker) throws InterruptedException {
        try {
            return worker.between(session -> HiddenStates.mean(session, ids)).get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case InvalidRequest invalid -> throw AnswerRequest.refused(invalid);
                case RuntimeException failure -> throw failure;
                default -> throw new IllegalStateException(e);
            }
        }
    }
}
