import { readFileSync } from 'node:fs'
import { type Incoming, type Reply, text } from '../http.ts'
import type { Sandbox } from '../sandbox.ts'
import { behavioursForm, behavioursPage } from './behaviours.ts'
import { botsForm, botsPage } from './bots.ts'
import { home } from './home.ts'
import { page } from './layout.ts'
import { answerForm, offerPage } from './offer.ts'
import { historyForm, historyPage, profilePage } from './profile.ts'
import { authenticatorPage, privacyPage, settingsForm, tradeSettingsPage, whoAreYou } from './settings.ts'
import { tourForm, tourPage } from './tour.ts'

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#f2b632"/><path d="M8 12h16v12H8z" fill="#1c1400"/><path d="M12 12V9a4 4 0 0 1 8 0v3" fill="none" stroke="#1c1400" stroke-width="3"/></svg>'

const FILES: Record<string, { body: string; type: string }> = {
  '/icon.svg': { body: ICON, type: 'image/svg+xml' },
  '/sandbox.css': { body: readPart('sandbox.css'), type: 'text/css' },
  '/sandbox.js': { body: readPart('sandbox.js'), type: 'text/javascript' },
}

type PageRoute = {
  at: RegExp
  get: (sandbox: Sandbox, id: string, request: Incoming) => Reply
  post?: (request: Incoming, sandbox: Sandbox, id: string) => Reply | undefined
}

const PAGES: PageRoute[] = [
  { at: /^\/$/, get: home },
  { at: /^\/behaviours\/?$/, get: behavioursPage, post: behavioursForm },
  { at: /^\/tour\/?$/, get: tourPage, post: tourForm },
  { at: /^\/bots\/?$/, get: botsPage, post: botsForm },
  { at: /^\/tradeoffer\/(\d+)\/?$/, get: offerPage, post: answerForm },
  { at: /^\/profiles\/(\d+)\/?$/, get: profilePage },
  { at: /^\/profiles\/(\d+)\/tradeoffers\/?$/, get: profilePage },
  { at: /^\/profiles\/(\d+)\/tradeoffers\/privacy\/?$/, get: tradeSettingsPage, post: settingsForm },
  { at: /^\/profiles\/(\d+)\/edit\/settings\/?$/, get: privacyPage, post: settingsForm },
  { at: /^\/profiles\/(\d+)\/twofactor\/manage\/?$/, get: authenticatorPage, post: settingsForm },
  {
    at: /^\/(?:my\/)?(tradeoffers|tradeoffers\/privacy|edit\/settings|twofactor\/manage)\/?$/,
    get: whoAreYou,
  },
  { at: /^\/profiles\/(\d+)\/history\/?$/, get: historyPage, post: historyForm },
]

/** The pages for people at the sandbox's own address. */
export function pages(request: Incoming, sandbox: Sandbox): Reply | undefined {
  const file = FILES[request.path]
  if (file && request.method === 'GET') return text(file.body, file.type)
  for (const { at, get, post } of PAGES) {
    const match = at.exec(request.path)
    if (!match) continue
    const id = match[1] ?? ''
    if (request.method === 'GET') return get(sandbox, id, request)
    if (request.method !== 'POST' || !post) return undefined
    // Browsers send Origin with every form that is posted, so a call without it did not come from a button here.
    if (!request.origin) return page('Refused', '<h1>Refused</h1><p>Use the buttons of the page.</p>', 403)
    return post(request, sandbox, id)
  }
  return undefined
}

function readPart(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8')
}
