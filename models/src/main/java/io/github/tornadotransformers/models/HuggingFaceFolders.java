package io.github.tornadotransformers.models;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * Where Hugging Face's own libraries keep what they have fetched, and the token that {@code hf auth login} leaves.
 *
 * @see <a href="https://huggingface.co/docs/huggingface_hub/package_reference/environment_variables">their variables</a>
 */
public final class HuggingFaceFolders {
    private static final String HOME = "HF_HOME";
    private static final String HUB_CACHE = "HF_HUB_CACHE";

    /** What older libraries call {@link #HUB_CACHE}. */
    private static final String OLDER_HUB_CACHE = "HUGGINGFACE_HUB_CACHE";

    private static final String TOKEN_PATH = "HF_TOKEN_PATH";
    private static final Path TILDE = Path.of("~");

    private HuggingFaceFolders() {}

    /**
     * {@code $HF_HOME}, else {@code huggingface} in {@code $XDG_CACHE_HOME} or {@code ~/.cache}; it need not exist, nor what is in
     * it.
     *
     * @throws CheckpointException naming the variable, if it cannot be the name of a folder
     */
    public static Path home(Map<String, String> environment) {
        return folder(environment, HOME)
                .orElseGet(() -> CacheFolder.ofPrograms(environment).resolve("huggingface"));
    }

    /** {@code $HF_HUB_CACHE}, else {@code hub} in the {@link #home}. */
    public static Path hubCache(Map<String, String> environment) {
        return folder(environment, HUB_CACHE)
                .or(() -> folder(environment, OLDER_HUB_CACHE))
                .orElseGet(() -> home(environment).resolve("hub"));
    }

    /** {@code $HF_TOKEN_PATH}, else {@code token} in the {@link #home}. */
    public static Path tokenFile(Map<String, String> environment) {
        return folder(environment, TOKEN_PATH).orElseGet(() -> home(environment).resolve("token"));
    }

    /** With {@code ~} at its begin taken for {@code $HOME}, as the libraries do where the shell has not. */
    private static Optional<Path> folder(Map<String, String> environment, String variable) {
        return CacheFolder.folder(environment, variable)
                .map(path ->
                        path.startsWith(TILDE) ? CacheFolder.home(environment).resolve(TILDE.relativize(path)) : path);
    }
}
