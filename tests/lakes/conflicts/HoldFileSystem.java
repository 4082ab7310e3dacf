import java.io.File;
import java.io.IOException;
import java.net.URI;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;

/**
 * The local file system, under the scheme hold://, where one writer can be stopped at the moment of its commit.
 *
 * A commit of Paimon is a rename to snapshot/snapshot-N. While a file HOLD is in the folder that the property
 * "hold.folder" names, the first such rename takes it away, leaves HELD and waits for GO. Like an object store or HDFS,
 * and unlike the local file system, it refuses to rename to a name that is taken.
 */
public class HoldFileSystem extends RawLocalFileSystem {

    private static final URI NAME = URI.create("hold:///");

    @Override
    public URI getUri() {
        return NAME;
    }

    @Override
    public String getScheme() {
        return "hold";
    }

    @Override
    public boolean rename(Path source, Path target) throws IOException {
        if (target.getName().startsWith("snapshot-")) {
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
        return !exists(target) && super.rename(source, target);
    }
}
