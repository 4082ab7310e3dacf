import java.io.File;
import java.io.IOException;
import java.util.Iterator;

import io.delta.storage.LocalLogStore;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * The log store of local tables, where one writer can be stopped at the moment of its commit.
 *
 * A commit of Delta is a new file _delta_log/N.json. While a file HOLD is in the folder that the property "hold.folder"
 * names, the first such write takes it away, leaves HELD and waits for GO before it looks whether the name is taken.
 */
public class HoldLogStore extends LocalLogStore {

    public HoldLogStore(Configuration configuration) {
        super(configuration);
    }

    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration configuration)
            throws IOException {
        if (path.getName().matches("\\d{20}\\.json")) {
            File folder = new File(System.getProperty("hold.folder"));
            if (new File(folder, "HOLD").delete()) {
                new File(folder, "HELD").createNewFile();
                while (!new File(folder, "GO").delete()) {
                    try {
                        Thread.sleep(20);
                    } catch (InterruptedException stopped) {
                        throw new IOException(stopped);
                    }
                }
            }
        }
        super.write(path, actions, overwrite, configuration);
    }
}
