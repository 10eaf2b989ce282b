package io.github.tornadotransformers.models.tokenizer;

import org.junit.jupiter.api.Test;

class NativeLibraryTest {
    @Test
    void loadingTwiceIsLoadingOnce() {
        NativeLibrary.load();
        NativeLibrary.load();
    }
}
