import { expect, it, onTestFinished } from 'vitest'
import { startSteam } from '../../steam-sandbox/start.ts'
import { createCaller } from './call.ts'
import { createPrices } from './look.ts'
import { createPace } from './pace.ts'

const ITEM = 'AK-47 | Redline (Field-Tested)'

it.each(['steam-down', 'price-403', 'price-500', 'price-html'])(
  'with the fault "%s", a price is unanswered, and the item is not cached as one without a price',
  async (fault) => {
    let nowMs = Date.now()
    const steam = await startSteam({ port: 0, seed: 'prices', quotas: false, clock: () => nowMs })
    onTestFinished(() => steam.close())
    const timer = {
      nowMs: () => nowMs,
      async pause(ms: number) {
        nowMs += ms
      },
    }
    const priceOf = createPrices({
      caller: createCaller(steam.url),
      pace: createPace(timer),
      nowMs: timer.nowMs,
    })
    const switchFault = (method: 'PUT' | 'DELETE') =>
      fetch(`${steam.url}/control/behaviours/${fault}`, { method })
    await switchFault('PUT')
    expect(await priceOf(730, ITEM)).toBe('unanswered')
    await switchFault('DELETE')
    expect(await priceOf(730, ITEM)).toEqual(expect.any(BigInt))
  },
)
