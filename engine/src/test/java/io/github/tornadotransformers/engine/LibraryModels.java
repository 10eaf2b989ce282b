package io.github.tornadotransformers.engine;

import io.github.tornadotransformers.models.Sizes;
import io.github.tornadotransformers.models.TestCheckpoints;
import io.github.tornadotransformers.models.gpt2.Gpt2Config;
import io.github.tornadotransformers.testsupport.TestTokenizers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Folders with small random models. */
final class LibraryModels {
    /** Longer than what a prefill runs at once. */
    static final int CONTEXT = 600;

    private static final long SEED = 20_260_202;

    private LibraryModels() {}

    static Path gpt2(Path folder) {
        return TestTokenizers.byteLevel(withoutTokenizer(folder));
    }

    static Path withoutTokenizer(Path folder) {
        Sizes sizes = new Sizes(TestTokenizers.BYTE_LEVEL_VOCAB_SIZE, CONTEXT, 24, 50, 2);
        return TestCheckpoints.write(folder, new Gpt2Config(sizes, 3, 1e-5f, true, true), SEED)
                .path();
    }

    /** Gives a model the token that ends a text ({@code eos_token_id}), or that begins one ({@code bos_token_id}). */
    static void say(Path folder, String field, int id) throws IOException {
        Files.writeString(folder.resolve("generation_config.json"), "{\"" + field + "\": " + id + "}");
    }
}
