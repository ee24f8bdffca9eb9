/**
 * `run-copy.ts COPY FOLDER [--only-put]`: restores a copy of an embedded database into a folder. Without `--only-put` it
 * also runs that database, prints its address, and stops it when stdin ends.
 */
import { createLog } from '../gateway/kit/log.ts'
import { startEmbedded } from './embedded.ts'
import { putBack } from './put-back.ts'

const [copy = '', dataDir = '', option] = process.argv.slice(2)
await putBack(copy, dataDir)
if (option === '--only-put') process.exit(0)
const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'warn' }), fsync: false })
console.log(embedded.url)
await new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve).resume())
await embedded.stop()
