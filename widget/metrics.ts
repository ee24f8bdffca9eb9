/** Sends the page's speed, as its shopper experienced it, to the server. */
import { type Metric, onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals'
import type { MetricsBody } from '../contract/widget-api.ts'

type Send = (body: MetricsBody) => void

/** The greatest value that the server accepts: milliseconds, except for the layout shift (CLS). */
const MOST_MS = 600_000

/** Measures from the start of the page's load, although this code loads after the page. */
export function measurePage(target: Window, send: Send): void {
  const waiting = new Map<Metric['name'], number>()
  const flush = (): void => {
    if (waiting.size === 0) return
    const metrics = [...waiting].map(([name, value]) => ({ name, value: Math.min(value, MOST_MS) }))
    waiting.clear()
    send({ screen: screenOf(target.location.pathname), metrics })
  }
  const note = ({ name, value }: Metric): void => {
    waiting.set(name, value)
  }
  onTTFB((metric) => {
    note(metric)
    onFCP((painted) => {
      note(painted)
      flush()
    })
  })
  for (const observe of [onCLS, onINP, onLCP]) observe(note)
  // A shopper who leaves may never come back: send the values so far.
  target.document.addEventListener('visibilitychange', () => target.document.hidden && flush())
  target.addEventListener('pagehide', flush)
}

function screenOf(path: string): MetricsBody['screen'] {
  if (path === '/') return 'landing'
  if (path === '/help') return 'help'
  return /^\/(?:deposit\/[^/]+|[0-9a-f]{32})$/.test(path) ? 'deposit' : 'other'
}
