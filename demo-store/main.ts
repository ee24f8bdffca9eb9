import { startStore } from './server.ts'

const env = process.env
const missing = ['TRADETILL_API_KEY', 'TRADETILL_WEBHOOK_SECRET'].filter((name) => !env[name])
if (missing.length > 0) {
  console.error(`The demo store needs ${missing.join(' and ')}: create a store at the till and set them.`)
  process.exit(1)
}

const store = await startStore({
  port: Number(env.DEMO_STORE_PORT ?? 4302),
  dataFile: env.DEMO_STORE_DATA ?? '.data/demo-store.sqlite',
  till: {
    url: env.TRADETILL_URL ?? 'http://localhost:4300',
    apiKey: env.TRADETILL_API_KEY ?? '',
    webhookSecret: env.TRADETILL_WEBHOOK_SECRET ?? '',
  },
  sandboxUrl: env.STEAM_SANDBOX_URL ?? 'http://localhost:4301',
  report: (problem) => console.error(`demo store: ${problem}`),
})
console.log(`demo store ready at ${store.url}`)

let isStopping = false
async function stop() {
  if (isStopping) return
  isStopping = true
  await store.close()
  process.exit(0)
}

process.once('SIGTERM', stop)
process.once('SIGINT', stop)
// `npm start` and the tests set this and hold stdin open, so the store stops when they end.
if (env.DEMO_STORE_STDIN === '1') process.stdin.resume().once('end', stop)
