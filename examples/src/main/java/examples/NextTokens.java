package examples;

import io.github.tornadotransformers.engine.LanguageModel;
import io.github.tornadotransformers.models.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.IntStream;

/** Shows the tokens that a model holds likeliest to follow a text, with their logits: {@code MODEL_FOLDER TEXT}. */
public final class NextTokens {
    private static final int SHOWN = 5;

    private NextTokens() {}

    public static void main(String[] arguments) {
        try (LanguageModel model = LanguageModel.load(Path.of(arguments[0]))) {
            Tokenizer tokenizer = model.folder().tokenizer();
            float[] logits = model.logits(tokenizer.encodePrompt(arguments[1]));
            IntStream.range(0, logits.length)
                    .boxed()
                    .sorted(Comparator.comparing((Integer id) -> logits[id]).reversed())
                    .limit(SHOWN)
                    .forEach(id -> System.out.println(logits[id] + "\t" + piece(tokenizer, id)));
        }
    }

    private static String piece(Tokenizer tokenizer, int id) {
        return tokenizer.pieces(new int[] {id}).getFirst();
    }
}
