import { SCALES } from '../games.ts'
import { type Reply, text } from '../http.ts'
import type { Listing } from '../world/world.ts'
import { escapeHtml } from './html.ts'

const CSP =
  "default-src 'none'; style-src 'self'; form-action 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'"

export function page(title: string, body: string, status = 200): Reply {
  const reply = text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/market.css"><link rel="icon" href="/icon.svg" type="image/svg+xml"></head><body>
<header class="banner">Market sandbox — no real market, no real money</header>
<nav aria-label="Sandbox"><a href="/">On sale</a> <a href="/sales/">Sales</a> <a href="/sellers/">Sellers</a> <a href="/faults/">Faults</a></nav>
<main>${body}</main></body></html>`,
    'text/html',
    status,
  )
  const headers = {
    'content-security-policy': CSP,
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  }
  return { ...reply, headers: { ...reply.headers, ...headers } }
}

export function money(units: number, { currency }: Pick<Listing, 'currency'>): string {
  return `${(units / SCALES[currency]).toFixed(2)} ${currency}`
}

/** A moment of the sandbox's time, as "2026-11-21 10:05 UTC". */
export function moment(atS: number): string {
  return `${new Date(atS * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** A note in place of an empty list. */
export function emptyNote(text: string): string {
  return `<p class="nothing">${text}</p>`
}
