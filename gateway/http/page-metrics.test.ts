import { fastify } from 'fastify'
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createMetrics, type Metrics } from '../metrics.ts'
import { pageMetricsRoute } from './page-metrics.ts'

let metrics: Metrics
let app: ReturnType<typeof fastify>

beforeEach(async () => {
  metrics = createMetrics()
  app = fastify()
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(pageMetricsRoute(metrics))
})

afterEach(() => app.close())

const report = async (payload: object): Promise<number> =>
  (await app.inject({ method: 'POST', url: '/api/metrics', payload })).statusCode

test('A-106 the measurements of a page are counted by metric, screen and device, with times in seconds', async () => {
  const status = await report({
    screen: 'deposit',
    metrics: [
      { name: 'LCP', value: 1200 },
      { name: 'CLS', value: 0.02 },
    ],
  })
  expect(status).toBe(204)
  const text = await metrics.registry.metrics()
  expect(text).toContain('tradetill_page_seconds_sum{metric="LCP",screen="deposit",device="computer"} 1.2')
  expect(text).toContain('tradetill_page_layout_shift_sum{screen="deposit",device="computer"} 0.02')
  expect(metrics.vitals.take()).toMatchObject([
    { screen: 'deposit', device: 'computer', metric: 'LCP', pages: 1 },
    { screen: 'deposit', device: 'computer', metric: 'CLS', pages: 1 },
  ])
})

test.each([
  ['an unknown screen', { screen: 'x', metrics: [{ name: 'LCP', value: 1 }] }],
  ['an unknown metric', { screen: 'help', metrics: [{ name: 'x', value: 1 }] }],
  ['a value below zero', { screen: 'help', metrics: [{ name: 'LCP', value: -1 }] }],
  ['an impossible value', { screen: 'help', metrics: [{ name: 'LCP', value: 1e9 }] }],
  ['no measurement', { screen: 'help', metrics: [] }],
  ['too many measurements', { screen: 'help', metrics: Array(6).fill({ name: 'LCP', value: 1 }) }],
  ['an unknown field', { screen: 'help', metrics: [{ name: 'LCP', value: 1 }], hash: 'x' }],
])('a report with %s is refused and not counted', async (_what, payload) => {
  expect(await report(payload)).toBe(400)
  expect(await metrics.registry.metrics()).not.toContain('tradetill_page_seconds_sum')
  expect(metrics.vitals.take()).toEqual([])
})
