import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Sources } from './prices.tsx'

const HOUR_MS = 3_600_000

it.each([
  ['prices of an hour ago', 'cs', 1, false],
  ['prices of three hours ago', 'cs', 3, true],
  ['exchange rates of six hours ago, which are asked for only every six hours', 'rates', 6.1, false],
  ['exchange rates of yesterday', 'rates', 24, true],
] as const)('%s', (_what, feed, hours, isOld) => {
  const goodAt = new Date(Date.now() - hours * HOUR_MS).toISOString()
  const html = renderToStaticMarkup(
    <Sources feeds={[{ source: 'er-api', feed, goodAt, failures: 0, lastError: null }]} />,
  )
  expect(html.includes('>old<')).toBe(isOld)
})
