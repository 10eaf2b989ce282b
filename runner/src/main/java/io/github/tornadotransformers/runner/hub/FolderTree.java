package io.github.tornadotransformers.runner.hub;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;

/** A folder and all that is in it. */
public final class FolderTree {
    private FolderTree() {}

    /** Deletes it. Links are deleted, and not what they lead to. */
    public static void delete(Path folder) throws IOException {
        Files.walkFileTree(folder, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path each, IOException failure) throws IOException {
                if (failure != null) {
                    throw failure;
                }
                Files.delete(each);
                return FileVisitResult.CONTINUE;
            }
        });
    }
}
