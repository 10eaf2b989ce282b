package io.github.tornadotransformers.models;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CacheFolderTest {
    @Test
    void ourVariableIsTheFolderItself() {
        assertThat(CacheFolder.path(Map.of("TRANSFORMERS_CACHE", "/a", "XDG_CACHE_HOME", "/b", "HOME", "/c")))
                .isEqualTo(Path.of("/a"));
    }

    @Test
    void cachesOfAllProgramsHoldOurs() {
        assertThat(CacheFolder.path(Map.of("XDG_CACHE_HOME", "/b", "HOME", "/c")))
                .isEqualTo(Path.of("/b/tornado-transformers"));
    }

    @Test
    void relativePathsOfXdgAreIgnored() {
        assertThat(CacheFolder.path(Map.of("XDG_CACHE_HOME", "b", "HOME", "/c")))
                .isEqualTo(Path.of("/c/.cache/tornado-transformers"));
    }

    @Test
    void homeIsTheVariable() {
        assertThat(CacheFolder.path(Map.of("HOME", "/c", "TRANSFORMERS_CACHE", " ", "XDG_CACHE_HOME", "")))
                .isEqualTo(Path.of("/c/.cache/tornado-transformers"));
    }

    @Test
    void withoutItTheUsersFolder() {
        assertThat(CacheFolder.path(Map.of()))
                .isEqualTo(Path.of(System.getProperty("user.home"), ".cache", "tornado-transformers"));
    }
}
