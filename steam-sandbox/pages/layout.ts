import { type Reply, text } from '../http.ts'
import { CATALOGUE, iconPath } from '../items.ts'
import { memberSince } from '../world/member-since.ts'
import type { Account, Asset } from '../world/world.ts'
import { escapeHtml } from './html.ts'

const CSP =
  "default-src 'none'; img-src 'self'; style-src 'self'; script-src 'self'; form-action 'self'; " +
  "base-uri 'none'; frame-ancestors 'none'"

export function page(title: string, body: string, status = 200): Reply {
  const reply = text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/sandbox.css"><link rel="icon" href="/icon.svg" type="image/svg+xml">
<script src="/sandbox.js" defer></script></head><body>
<header class="banner">Steam sandbox — not the real Steam</header>
<nav aria-label="Sandbox"><a href="/">Shoppers</a> <a href="/behaviours/">Behaviours and time</a> <a href="/bots/">Bots</a> <a href="/tour/">Tour</a></nav>
<main>${body}</main>
<footer>Pictures: <a href="https://game-icons.net">game-icons.net</a> by Lorc, Delapouite and others,
<a href="https://creativecommons.org/licenses/by/3.0/">CC BY 3.0</a>, coloured here.</footer></body></html>`,
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

export function notFound(text: string): Reply {
  return page('Not found', `<h1>Not found</h1><p>${text}</p>`, 404)
}

/** Renders an account with the day on which it joined Steam. The deposit page shows the bot's day, for comparison. */
export function person(account: Account): string {
  const { name, steamId, level, avatarHash } = account
  const joined = memberSince(account)
  const since = joined === undefined ? 'new on Steam' : `member since ${joined}`
  return `<div class="person"><img src="/${avatarHash}_full.jpg" alt=""><div>
<h2><a href="/profiles/${steamId}/">${escapeHtml(name)}</a></h2><p>Level ${level} · ${since}</p></div></div>`
}

/** One line of text; `words` in backticks become code. */
export function htmlOfLine(line: string): string {
  return escapeHtml(line).replace(/`([^`]+)`/g, '<code>$1</code>')
}

export function linkRow(link: string, whose: string): string {
  return copyRow(link, `Trade link of ${whose}`)
}

export function copyRow(value: string, label: string): string {
  const shown = escapeHtml(value)
  return `<div class="link"><input readonly value="${shown}" aria-label="${escapeHtml(label)}">
<button type="button" data-copy="${shown}">Copy</button></div>`
}

type ItemListOptions = { tick?: string; note?: (asset: Asset) => string }

/** Pictures and names of items. With `tick`, each has a ticked checkbox whose field has that name. */
export function itemList(assets: Asset[], { tick, note }: ItemListOptions = {}): string {
  const rows = assets.flatMap((asset) => {
    const entry = CATALOGUE.get(asset.classId)
    if (!entry) return []
    const noteHtml = note?.(asset) ?? ''
    const picture = `<img src="/economy/image/${iconPath(entry)}/100fx100f" alt=""><br>${escapeHtml(entry.name)}${noteHtml}`
    const box = `<input type="checkbox" name="${tick}" value="${asset.assetId}" checked>`
    return [`<li>${tick ? `<label>${box}${picture}</label>` : picture}</li>`]
  })
  return `<ul class="items">${rows.join('')}</ul>`
}

/** A moment of the sandbox's time, as "2026-11-21 10:05 UTC". */
export function moment(atS: number): string {
  return `${new Date(atS * 1000).toISOString().slice(0, 16).replace('T', ' ')} UTC`
}
