/** Restores a copy of an embedded database into a folder and runs it. Prints its address, and ends with its stdin. */
import { createLog } from '../gateway/kit/log.ts'
import { startEmbedded } from './embedded.ts'
import { putBack } from './put-back.ts'

const [copy = '', dataDir = '', only] = process.argv.slice(2)
putBack(copy, dataDir)
if (only === '--only-put') process.exit(0)
const embedded = await startEmbedded({ dataDir, log: createLog({ level: 'warn' }), fsync: false })
console.log(embedded.url)
await new Promise<void>((resolve) => process.stdin.once('end', resolve).once('close', resolve).resume())
await embedded.stop()
