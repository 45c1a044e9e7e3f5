// SPDX-License-Identifier: GPL-2.0
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;

/** Counts the words of a file. */
public class Words {
    public static void main(String[] args) throws Exception {
        var count = new TreeMap<String, Integer>();

        for (String word : Files.readString(Path.of(args[0])).split("[^a-z]+"))
            count.merge(word, 1, Integer::sum);
        System.out.println(count.lastEntry());
    }
}
