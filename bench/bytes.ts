/**
 * `npm run bench -- bytes`: the bytes that a shopper's browser loads before the link field works, gzipped, compared with
 * adyen-web's page for a card.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'vite'
import { LANGUAGES } from '../contract/languages.ts'
import { readDocument } from '../gateway/http/first-paint.ts'
import { buildWidgetIfChanged } from '../scripts/build-pages.ts'
import { payment } from '../widget/flow/test-states.ts'
import { withPackage } from './npm-package.ts'
import type { Outcome } from './outcome.ts'

/** The most that a browser may load before the link field works, in the language that needs the most. */
const LIMIT_KB = 86
const DIST = join(import.meta.dirname, '../widget/dist')
const ADYEN = '@adyen/adyen-web@6.45.2'

const gzippedSize = (file: string): number => gzipSync(readFileSync(file), { level: 9 }).length
const kb = (bytes: number): string => `${(bytes / 1024).toFixed(1)}KB`

/** Matches the scripts and styles that a document loads. The link field works once they are loaded. */
const PAGE_FILES = /(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g

export async function benchBytes(): Promise<Outcome> {
  await buildWidgetIfChanged()
  const { withPayment } = readDocument(readFileSync(join(DIST, 'index.html'), 'utf8'), 'live')
  const sizes = LANGUAGES.map((language) =>
    bytesOf(withPayment(payment({ language, user: null }), new Date())),
  )
  const figures = LANGUAGES.map((language, index) => `${language} ${kb(sizes[index] ?? 0)}`).join(', ')
  console.log(`link field: ${figures}. The largest one counts.`)
  const withItems = bytesOf(withPayment(payment({ language: 'en' }), new Date()))
  console.log(`known shopper, with the scripts for the items: ${kb(withItems)}`)
  const ours = Math.max(...sizes)
  const outcome = { name: 'bytes', ours: kb(ours), limit: `<=${LIMIT_KB}KB`, passed: ours <= LIMIT_KB * 1024 }
  const theirs = await adyenBytes().catch((error: unknown) => {
    console.log(`${ADYEN} could not be built for comparison: ${String(error).split('\n')[0]}`)
    return undefined
  })
  return theirs === undefined ? outcome : { ...outcome, floor: kb(theirs), ratio: ours / theirs }
}

/** The gzipped bytes of the page as the gateway sends it, and of the scripts and styles that it loads. */
function bytesOf(html: string): number {
  const files = [...html.matchAll(PAGE_FILES)].map(([, path = '']) => gzippedSize(join(DIST, path)))
  return files.reduce((sum, size) => sum + size, gzipSync(html, { level: 9 }).length)
}

/** The gzipped bytes of a page with adyen-web's card form, built with the same tool. */
function adyenBytes(): Promise<number> {
  return withPackage(ADYEN, async (folder) => {
    writeFileSync(
      join(folder, 'index.html'),
      '<div id="card"></div><script type="module" src="/main.js"></script>',
    )
    writeFileSync(
      join(folder, 'main.js'),
      `import { AdyenCheckout, Card } from '@adyen/adyen-web'
       import '@adyen/adyen-web/styles/adyen.css'
       new Card(await AdyenCheckout({ clientKey: 'test', environment: 'test' })).mount('#card')`,
    )
    await build({
      root: folder,
      logLevel: 'silent',
      build: { target: 'es2022', modulePreload: { polyfill: false } },
    })
    const html = readFileSync(join(folder, 'dist/index.html'), 'utf8')
    const namedFiles = readdirSync(join(folder, 'dist/assets')).filter((name) => html.includes(name))
    return namedFiles.reduce(
      (sum, name) => sum + gzippedSize(join(folder, 'dist/assets', name)),
      gzippedSize(join(folder, 'dist/index.html')),
    )
  })
}
