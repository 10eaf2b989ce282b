package io.github.tornadotransformers.models.llama;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.ProgramParts;
import io.github.tornadotransformers.models.program.RotaryTable;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Llama's forward pass: RMSNorm, rotary positions, grouped-query attention and a SwiGLU MLP.
 *
 * <p>Source: Touvron et al. 2023, arXiv:2302.13971 and arXiv:2307.09288; tensor names as in Hugging Face's checkpoints,
 * whose linear weights are {@code [outputs][inputs]} and are transposed once, while loading.
 */
final class LlamaProgram {
    private static final String BLOCK = "layers." + TensorPart.LAYER + ".";

    private LlamaProgram() {}

    static Program of(LlamaConfig config, int contextLength) {
        ProgramParts.requireContext(contextLength, config.contextLength());
        int hidden = config.hiddenSize();
        AttentionShape attention =
                new AttentionShape(config.heads(), config.kvHeads(), config.headDim(), contextLength);

        Weight tokenEmbedding = ProgramParts.tokenEmbedding(hidden, config.vocabSize(), "embed_tokens.weight");
        Buffer residual = Buffer.ofAllRows(ProgramParts.RESIDUAL, hidden);
        List<Op> embedding = List.of(new Op.TokenEmbedding("tokenEmbedding", tokenEmbedding, residual));

        Buffer selected = Buffer.ofLogitRows("selected", hidden);
        Buffer finalNormed = Buffer.ofLogitRows("finalNormed", hidden);
        Buffer logits = Buffer.ofLogitRows("logits", config.vocabSize());
        Weight head = config.tiedHead()
                ? tokenEmbedding
                : ProgramParts.transposedMatrix("lmHead", 1, hidden, config.vocabSize(), "lm_head.weight");
        List<Op> headOps = List.of(
                new Op.SelectRows("selectRows", residual, selected),
                norm(config, "finalNorm", 1, "norm.", selected, finalNormed),
                ProgramParts.linear("lmHead", finalNormed, head, logits));

        return new Program(
                LlamaConfig.MODEL_TYPE,
                config.layers(),
                config.vocabSize(),
                attention,
                embedding,
                block(config, attention, residual),
                headOps,
                residual,
                logits);
    }

    private static List<Op> block(LlamaConfig config, AttentionShape attention, Buffer residual) {
        int hidden = config.hiddenSize();
        int layers = config.layers();
        int intermediateSize = config.intermediateSize();
        boolean attentionBias = config.attentionBias();
        boolean mlpBias = config.mlpBias();
        RotaryTable rotary = RotaryTable.of(config.inverseFrequencies(), attention.contextLength());
        Buffer normed = Buffer.ofAllRows("normed", hidden);
        Buffer qkv = Buffer.ofAllRows("qkv", attention.fusedWidth());
        Buffer attended = Buffer.ofAllRows("attended", attention.queryWidth());
        Buffer gateUp = Buffer.ofAllRows("gateUp", Math.multiplyExact(2, intermediateSize));
        Buffer intermediate = Buffer.ofAllRows("intermediate", intermediateSize);
        List<Projection> qkvParts = List.of(
                new Projection("self_attn.q_proj.", attention.queryWidth()),
                new Projection("self_attn.k_proj.", attention.keyValueWidth()),
                new Projection("self_attn.v_proj.", attention.keyValueWidth()));
        List<Projection> gateUpParts = List.of(
                new Projection("mlp.gate_proj.", intermediateSize), new Projection("mlp.up_proj.", intermediateSize));
        List<Projection> oPart = List.of(new Projection("self_attn.o_proj.", hidden));
        List<Projection> downPart = List.of(new Projection("mlp.down_proj.", hidden));

        List<Op> ops = new ArrayList<>();
        ops.add(norm(config, "attentionNorm", layers, BLOCK + "input_layernorm.", residual, normed));
        ops.add(linear(layers, "qkvProj", qkvParts, attentionBias, normed, false, qkv));
        ops.add(new Op.Rotary("rotary", attention, rotary, qkv));
        ops.addAll(ProgramParts.attention(attention, ProgramParts.attentionScale(config.headDim()), qkv, attended));
        ops.add(linear(layers, "oProj", oPart, attentionBias, attended, true, residual));
        ops.add(norm(config, "mlpNorm", layers, BLOCK + "post_attention_layernorm.", residual, normed));
        ops.add(linear(layers, "gateUpProj", gateUpParts, mlpBias, normed, false, gateUp));
        ops.add(new Op.SwiGlu("swiGlu", gateUp, intermediate));
        ops.add(linear(layers, "downProj", downPart, mlpBias, intermediate, true, residual));
        return ops;
    }

    private static Op.RmsNorm norm(
            LlamaConfig config, String name, int layers, String tensors, Buffer input, Buffer output) {
        Weight weight = ProgramParts.vector(name + "Weight", layers, config.hiddenSize(), tensors + "weight");
        return new Op.RmsNorm(name, input, weight, config.rmsNormEps(), output);
    }

    /** A projection of the checkpoint: its tensors' prefix within the block, and its outputs. */
    private record Projection(String tensors, int outputs) {}

    /** Projections of the same input, side by side as one linear layer. */
    private static Op.Linear linear(
            int layers,
            String name,
            List<Projection> projections,
            boolean biased,
            Buffer input,
            boolean addsToOutput,
            Buffer output) {
        List<TensorPart> weights = new ArrayList<>();
        List<TensorPart> biases = new ArrayList<>();
        int column = 0;
        for (Projection projection : projections) {
            int outputs = projection.outputs();
            weights.add(new TensorPart(BLOCK + projection.tensors() + "weight", column, outputs, true));
            biases.add(new TensorPart(BLOCK + projection.tensors() + "bias", column, outputs, false));
            column = Math.addExact(column, outputs);
        }
        Weight weight = ProgramParts.matrix(name + "Weight", layers, input.width(), output.width(), weights);
        Optional<Weight> bias = biased
                ? Optional.of(ProgramParts.vector(name + "Bias", layers, output.width(), biases))
                : Optional.empty();
        return new Op.Linear(name, input, weight, bias, Activation.NONE, addsToOutput, output);
    }
}
