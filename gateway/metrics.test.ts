import { expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

it('requests to Steam are counted and timed by method, separately from requests that our own limits held back', async () => {
  const { registry, steam } = createMetrics()
  steam.request('GetTradeOffers', { outcome: 'answered', seconds: 0.2 })
  steam.request('GetTradeOffers', { outcome: 'limited', seconds: 0.1 })
  steam.request('send', { outcome: 'failed', seconds: 15 })
  steam.heldBack('GetTradeOffers', 'paused')
  steam.heldBack('GetTradeOffers', 'paused')
  const lines = (await registry.metrics()).split('\n')
  expect(lines).toEqual(
    expect.arrayContaining([
      'tradetill_steam_request_seconds_count{method="GetTradeOffers",outcome="answered"} 1',
      'tradetill_steam_request_seconds_sum{method="GetTradeOffers",outcome="answered"} 0.2',
      'tradetill_steam_request_seconds_count{method="GetTradeOffers",outcome="limited"} 1',
      'tradetill_steam_request_seconds_count{method="send",outcome="failed"} 1',
      'tradetill_steam_held_back_total{method="GetTradeOffers",why="paused"} 2',
    ]),
  )
})

it('an outcome of webhooks that never occurred has a count of 0, so the first that is given up shows as an increase', async () => {
  const { registry } = createMetrics()
  const lines = (await registry.metrics()).split('\n')
  expect(lines).toContain('tradetill_webhook_attempts_total{outcome="given_up"} 0')
})

it('a type of event that never occurred has a count of 0, so the first reversal shows as an increase', async () => {
  const { registry, events } = createMetrics()
  const line = async () =>
    (await registry.metrics()).split('\n').find((line) => line.includes('type="deposit.reversed"'))
  expect(await line()).toBe('tradetill_events_total{type="deposit.reversed"} 0')
  events.inc({ type: 'deposit.reversed' })
  expect(await line()).toBe('tradetill_events_total{type="deposit.reversed"} 1')
})
