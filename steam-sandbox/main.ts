import { startSteam } from './start.ts'

const { STEAM_SANDBOX_PORT, STEAM_SANDBOX_DATA, STEAM_SANDBOX_QUOTAS, STEAM_SANDBOX_STDIN } = process.env
const steam = await startSteam({
  port: Number(STEAM_SANDBOX_PORT ?? 4301),
  quotas: STEAM_SANDBOX_QUOTAS !== '0',
  onScene: (name) => console.log(`scene wanted: ${name}`),
  ...(STEAM_SANDBOX_DATA ? { dataFile: STEAM_SANDBOX_DATA } : {}),
})
console.log(`steam sandbox ready at ${steam.url}`)

let isStopping = false
async function stop() {
  if (isStopping) return
  isStopping = true
  await steam.close()
  process.exit(0)
}

process.once('SIGTERM', stop)
process.once('SIGINT', stop)
if (STEAM_SANDBOX_STDIN === '1') process.stdin.resume().once('end', stop)
