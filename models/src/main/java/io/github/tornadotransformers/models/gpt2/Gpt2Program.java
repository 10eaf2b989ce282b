package io.github.tornadotransformers.models.gpt2;

import io.github.tornadotransformers.models.program.Activation;
import io.github.tornadotransformers.models.program.AttentionShape;
import io.github.tornadotransformers.models.program.Buffer;
import io.github.tornadotransformers.models.program.Op;
import io.github.tornadotransformers.models.program.Program;
import io.github.tornadotransformers.models.program.ProgramParts;
import io.github.tornadotransformers.models.program.TensorPart;
import io.github.tornadotransformers.models.program.Weight;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * GPT-2's forward pass: learned positions, pre-norm blocks with LayerNorm, biased projections and a GELU MLP.
 *
 * <p>Source: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", and the released checkpoints'
 * tensor names. GPT-2 stores its linear weights as {@code [inputs][outputs]}, so nothing but the embedding is transposed.
 */
final class Gpt2Program {
    private static final String BLOCK = "h." + TensorPart.LAYER + ".";

    private Gpt2Program() {}

    static Program of(Gpt2Config config, int contextLength) {
        ProgramParts.requireContext(contextLength, config.contextLength());
        int hidden = config.hiddenSize();
        AttentionShape attention = new AttentionShape(config.heads(), config.heads(), config.headDim(), contextLength);

        Weight tokenEmbedding = ProgramParts.tokenEmbedding(hidden, config.vocabSize(), "wte.weight");
        Buffer residual = Buffer.ofAllRows(ProgramParts.RESIDUAL, hidden);
        List<Op> embedding = List.of(
                new Op.TokenEmbedding("tokenEmbedding", tokenEmbedding, residual),
                new Op.PositionEmbedding("positionEmbedding", positionEmbedding(config), residual));

        Buffer selected = Buffer.ofLogitRows("selected", hidden);
        Buffer finalNormed = Buffer.ofLogitRows("finalNormed", hidden);
        Buffer logits = Buffer.ofLogitRows("logits", config.vocabSize());
        Weight head = config.tiedHead()
                ? tokenEmbedding
                : ProgramParts.transposedMatrix("lmHead", 1, hidden, config.vocabSize(), "lm_head.weight");
        List<Op> headOps = List.of(
                new Op.SelectRows("selectRows", residual, selected),
                norm(config, "finalNorm", 1, "ln_f.", selected, finalNormed),
                ProgramParts.linear("lmHead", finalNormed, head, logits));

        return new Program(
                Gpt2Config.MODEL_TYPE,
                config.layers(),
                config.vocabSize(),
                attention,
                embedding,
                block(config, attention, residual),
                headOps,
                residual,
                logits);
    }

    private static List<Op> block(Gpt2Config config, AttentionShape attention, Buffer residual) {
        int hidden = config.hiddenSize();
        int layers = config.layers();
        Buffer normed = Buffer.ofAllRows("normed", hidden);
        Buffer qkv = Buffer.ofAllRows("qkv", attention.fusedWidth());
        Buffer attended = Buffer.ofAllRows("attended", attention.queryWidth());
        Buffer intermediate = Buffer.ofAllRows("intermediate", config.intermediateSize());
        float scale = config.scalesAttention() ? ProgramParts.attentionScale(config.headDim()) : 1f;

        List<Op> ops = new ArrayList<>();
        ops.add(norm(config, "attentionNorm", layers, BLOCK + "ln_1.", residual, normed));
        ops.add(linear(config, "qkvProj", "attn.c_attn.", normed, Activation.NONE, false, qkv));
        ops.addAll(ProgramParts.attention(attention, scale, qkv, attended));
        ops.add(linear(config, "oProj", "attn.c_proj.", attended, Activation.NONE, true, residual));
        ops.add(norm(config, "mlpNorm", layers, BLOCK + "ln_2.", residual, normed));
        ops.add(linear(config, "upProj", "mlp.c_fc.", normed, Activation.GELU_TANH, false, intermediate));
        ops.add(linear(config, "downProj", "mlp.c_proj.", intermediate, Activation.NONE, true, residual));
        return ops;
    }

    private static Op.LayerNorm norm(
            Gpt2Config config, String name, int layers, String tensors, Buffer input, Buffer output) {
        int hidden = config.hiddenSize();
        Weight weight = ProgramParts.vector(name + "Weight", layers, hidden, tensors + "weight");
        Weight bias = ProgramParts.vector(name + "Bias", layers, hidden, tensors + "bias");
        return new Op.LayerNorm(name, input, weight, bias, config.layerNormEps(), output);
    }

    private static Op.Linear linear(
            Gpt2Config config,
            String name,
            String tensors,
            Buffer input,
            Activation activation,
            boolean addsToOutput,
            Buffer output) {
        int layers = config.layers();
        TensorPart part = new TensorPart(BLOCK + tensors + "weight", 0, output.width(), false);
        Weight weight = ProgramParts.matrix(name + "Weight", layers, input.width(), output.width(), List.of(part));
        Weight bias = ProgramParts.vector(name + "Bias", layers, output.width(), BLOCK + tensors + "bias");
        return new Op.Linear(name, input, weight, Optional.of(bias), activation, addsToOutput, output);
    }

    private static Weight positionEmbedding(Gpt2Config config) {
        TensorPart part = new TensorPart("wpe.weight", 0, config.hiddenSize(), false);
        return new Weight(
                "positionEmbedding",
                1,
                config.contextLength(),
                config.hiddenSize(),
                Weight.Kind.FLOAT32,
                List.of(part));
    }
}
