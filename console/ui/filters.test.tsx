import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { Filters } from './filters.tsx'

const FIELDS = [{ name: 'state', label: 'State', options: ['open', 'ended'] }]
const htmlAt = (query: string, fallback?: string) =>
  renderToStaticMarkup(
    <Filters
      query={new URLSearchParams(query)}
      fields={FIELDS.map((field) => (fallback === undefined ? field : { ...field, fallback }))}
    />,
  )

it('a filter shows the choice in the address, or else its fallback, or else "all"', () => {
  expect(htmlAt('state=ended')).toContain('<option selected="">ended</option>')
  expect(htmlAt('')).toContain('<option value="" selected="">all</option>')
  expect(htmlAt('', 'open')).toContain('<option selected="">open</option>')
})
