/** How the operator learns that the machine's clock is wrong. */
import { Gauge, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { createMetrics } from '../metrics.ts'
import type { SteamTime } from '../steam/steam-time.ts'
import { clockSweeps } from '../sweeps.ts'
import { captureLog } from '../testing/log.ts'
import { watchClock } from './steam-watch.ts'

const MACHINE_MS = Date.parse('2026-11-28T12:00:00Z')

function createBench() {
  const registry = new Registry()
  const gauge = new Gauge({ name: 'ahead', help: 'x', registers: [registry] })
  const { log, lines } = captureLog()
  const clock = { machineNow: () => new Date(MACHINE_MS) }
  return {
    lines,
    watch: (answer: (machineMs: number) => SteamTime) =>
      watchClock({ clock, log, gauge, ask: async (nowMs) => answer(nowMs()) }),
    aheadS: async () => (await gauge.get()).values[0]?.value,
  }
}

const steamAt = (seconds: number) => (machineMs: number) =>
  ({ kind: 'answered', machineMs, steamMs: MACHINE_MS + seconds * 1_000 }) as const

it.each([
  [-31, 31],
  [31, -31],
])(
  'a Steam clock %d s ahead of the machine’s is logged as an error, and the metric is how far the machine is ahead',
  async (seconds, aheadS) => {
    const bench = createBench()
    await bench.watch(steamAt(seconds))
    expect(bench.lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        level: 'error',
        aheadMs: aheadS * 1_000,
        msg: expect.stringContaining('the clock of this machine is wrong'),
      },
    ])
    expect(await bench.aheadS()).toBe(aheadS)
  },
)

it('a small difference is only a metric, which stays while Steam does not answer', async () => {
  const bench = createBench()
  await bench.watch(steamAt(-12))
  await bench.watch(() => ({ kind: 'failed', reason: 'down' }))
  expect(bench.lines).toEqual([])
  expect(await bench.aheadS()).toBe(12)
})

it('only a live gateway asks Steam for its time', () => {
  const clock = { machineNow: () => new Date(MACHINE_MS) }
  const { log } = captureLog()
  const metrics = createMetrics()
  expect(clockSweeps('sandbox', { clock, log, metrics })).toEqual([])
  expect(clockSweeps('live', { clock, log, metrics })).toHaveLength(1)
})
