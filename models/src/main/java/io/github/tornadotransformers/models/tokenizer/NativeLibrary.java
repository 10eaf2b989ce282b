package io.github.tornadotransformers.models.tokenizer;

import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import io.github.tornadotransformers.models.CacheFolder;
import io.github.tornadotransformers.models.CheckpointException;
import io.github.tornadotransformers.models.EngineException;
import io.github.tornadotransformers.models.Quoted;
import io.github.tornadotransformers.models.Term;
import io.github.tornadotransformers.models.Wording;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Loads Hugging Face's tokenizer library, once a JVM.
 *
 * <p>DJL's jar carries it for four platforms. DJL's own loader is passed by, because it looks for CUDA devices, may download
 * a library built for them, and reports its use to a cloud service; this one copies the library out of the jar into
 * {@code <cache>/.native} and does nothing else.
 */
final class NativeLibrary {
    private NativeLibrary() {}

    /**
     * @throws CheckpointException if there is none for this platform, or it cannot be unpacked, trusted or linked
     * @throws EngineException if the JVM was told not to load it
     */
    @SuppressWarnings("restricted")
    static void load() {
        String platform = platform();
        try {
            UnpackedFiles unpacked = folder(platform);
            for (String file : files()) {
                System.load(unpacked.file(platform + "/cpu/" + file).toString());
            }
        } catch (FileNotFoundException e) {
            throw new CheckpointException(
                    Wording.of(
                            "the tokenizer library has no build for %s; without it only %s work",
                            platform, Term.PROMPT_IDS),
                    e);
        } catch (IllegalCallerException e) {
            Module module = NativeLibrary.class.getModule();
            throw new EngineException(
                    "the tokenizer is a native library: start java with --enable-native-access="
                            + (module.isNamed() ? module.getName() : "ALL-UNNAMED"),
                    e);
        } catch (IOException | UnsatisfiedLinkError e) {
            throw new CheckpointException(
                    "the tokenizer library cannot be loaded: " + Quoted.line(String.valueOf(e.getMessage())), e);
        }
    }

    private static String platform() {
        String system = System.getProperty("os.name");
        String name = system.startsWith("Windows") ? "win" : system.startsWith("Mac") ? "osx" : "linux";
        String architecture = System.getProperty("os.arch");
        return name + '-' + (architecture.equals("amd64") ? "x86_64" : architecture);
    }

    /** In the order in which they have to be loaded. */
    private static List<String> files() {
        String library = System.mapLibraryName("tokenizers");
        return library.endsWith(".dll")
                ? List.of("libwinpthread-1.dll", "libgcc_s_seh-1.dll", "libstdc++-6.dll", library)
                : List.of(library);
    }

    /** A folder of the library's version in the cache, or a private temporary one where the cache cannot be written. */
    private static UnpackedFiles folder(String platform) throws IOException {
        String version = TokenizersLibrary.class.getPackage().getSpecificationVersion();
        Path cached = CacheFolder.path().resolve(".native").resolve("tokenizers-" + version + '-' + platform);
        try {
            return UnpackedFiles.in(cached.toAbsolutePath());
        } catch (IOException e) {
            Path temporary = Files.createTempDirectory("tokenizers-");
            temporary.toFile().deleteOnExit();
            files().forEach(file -> temporary.resolve(file).toFile().deleteOnExit());
            return UnpackedFiles.in(temporary);
        }
    }
}
