import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Sources } from './prices.tsx'

const HOUR_MS = 3_600_000

it.each([
  ['prices from an hour ago are not marked as old', 'cs', 1, false],
  ['prices from three hours ago are marked as old', 'cs', 3, true],
  ['exchange rates, fetched every six hours, are not marked as old after six', 'rates', 6.1, false],
  ['exchange rates from yesterday are marked as old', 'rates', 24, true],
] as const)('%s', (_what, feed, hours, isOld) => {
  const goodAt = new Date(Date.now() - hours * HOUR_MS).toISOString()
  const html = renderToStaticMarkup(
    <Sources feeds={[{ source: 'er-api', feed, goodAt, failures: 0, lastError: null }]} />,
  )
  expect(html.includes('>old<')).toBe(isOld)
})
