import { expect, it } from 'vitest'
import { overviewLines } from './figure-lines.ts'

it('a page timing is listed in milliseconds, and a layout shift without a unit', () => {
  const page = { screen: 'deposit', device: 'phone', pages: 2 } as const
  const lines = overviewLines({
    statuses: [],
    credited: [],
    funnel: { opened: 0, linked: 0, priced: 0, offered: 0, paid: 0 },
    open: [],
    vitals: [
      { ...page, metric: 'LCP', p75: 812 },
      { ...page, metric: 'CLS', p75: 0.012 },
    ],
  })
  expect(lines.slice(-2)).toEqual([
    'pages in 7 days\tdeposit\tphone\tLCP\tp75 812 ms\t2 pages',
    'pages in 7 days\tdeposit\tphone\tCLS\tp75 0.012\t2 pages',
  ])
})
