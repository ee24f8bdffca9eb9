import { CURRENCIES } from '../goods.ts'
import { LANGUAGE_NAMES, LANGUAGES, type Language, TEXTS } from '../texts.ts'
import { SHOPPERS, type Visitor } from '../visitor.ts'

/** Escapes a text for use between tags and in quoted attributes. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

export function money(amountMinor: number, currency: string, language: Language): string {
  const locale = language === 'ru' ? 'ru-RU' : 'en-US'
  return new Intl.NumberFormat(locale, { style: 'currency', currency }).format(amountMinor / 100)
}

const DAY_LOCALES: Record<Language, string> = { en: 'en-GB', ru: 'ru-RU' }

/** A day in UTC. The page's script converts it, like every time below, to the visitor's time zone. */
export function dayOf(iso: string, { language }: Visitor): string {
  const day = new Intl.DateTimeFormat(DAY_LOCALES[language], {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
  return localTime(iso, 'day', day.format(new Date(iso)))
}

export const timeOf = (iso: string): string =>
  localTime(iso, 'moment', `${iso.slice(0, 16).replace('T', ' ')} UTC`)

export const clockTimeOf = (iso: string): string => localTime(iso, 'clock', `${iso.slice(11, 19)} UTC`)

/** `shape`: how the page's script writes the visitor's local time. `utc`: the text until the script runs. */
const localTime = (iso: string, shape: 'day' | 'moment' | 'clock', utc: string): string =>
  `<time datetime="${escapeHtml(iso)}" data-local="${shape}">${escapeHtml(utc)}</time>`

export const picture = (id: string): string =>
  `<svg class="picture" aria-hidden="true"><use href="/static/goods.svg#${escapeHtml(id)}"></use></svg>`

type Page = { title: string; main: string; visitor: Visitor; head?: string }

export function page({ title, main, visitor, head = '' }: Page): string {
  const texts = TEXTS[visitor.language]
  return `<!doctype html>
<html lang="${visitor.language}" data-days="${DAY_LOCALES[visitor.language]}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/static/ember.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/ember.css">
<link rel="stylesheet" href="/static/shop.css">
${head}<script src="/static/ember.js" type="module"></script>
</head>
<body>
<header class="top"><a class="brand" href="/"><img src="/static/ember.svg" alt="" width="32" height="32">Ember Forge</a>
${settings(visitor)}</header>
<main>${main}</main>
<footer><a href="/help">${texts.helpTitle}</a> · ${texts.footer} ${texts.pictures} <a href="https://game-icons.net">game-icons.net</a>,
<a href="https://creativecommons.org/licenses/by/3.0/">CC BY 3.0</a>.</footer>
</body>
</html>`
}

function settings(visitor: Visitor): string {
  const { language, currency, shopper } = visitor
  const texts = TEXTS[language]
  const languages = LANGUAGES.map((code) => [code, LANGUAGE_NAMES[code]] as const)
  return `<form method="post" action="/settings" class="settings" data-settings>
${select({ name: 'language', label: texts.language, chosen: language, options: languages })}
${select({ name: 'currency', label: texts.currency, chosen: currency, options: CURRENCIES.map((code) => [code, code]) })}
${select({ name: 'shopper', label: texts.signedInAs, chosen: shopper, options: SHOPPERS.map((name) => [name, name]) })}
<button type="submit">${texts.apply}</button></form>`
}

type Choice = {
  name: string
  label: string
  chosen: string
  options: readonly (readonly [value: string, text: string])[]
}

function select({ name, label, chosen, options }: Choice): string {
  const optionTags = options.map(
    ([value, text]) =>
      `<option value="${value}"${value === chosen ? ' selected' : ''}>${escapeHtml(text)}</option>`,
  )
  return `<label>${label} <select name="${name}" autocomplete="off">${optionTags.join('')}</select></label>`
}

export function messagePage(visitor: Visitor, title: string, text: string): string {
  return page({
    title: `${title} · Ember Forge`,
    visitor,
    main: `<section class="card message"><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p>
<p><a class="button" href="/">${TEXTS[visitor.language].back}</a></p></section>`,
  })
}
