import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin, type Rolldown } from 'vite'
import { loadMessages, messagesIn } from './i18n/messages.ts'
import { shellOf } from './shell.tsx'

const OUT = join(import.meta.dirname, 'dist')

/** Writes .br and .gz beside each text asset, so the server never compresses. */
export function precompressed(): Plugin {
  let folder = ''
  return {
    name: 'precompressed',
    apply: 'build',
    configResolved({ root, build }) {
      folder = resolve(root, build.outDir, 'assets')
    },
    closeBundle(failure?: Error) {
      if (failure !== undefined) return
      for (const name of readdirSync(folder).filter((file) => /\.(js|css|svg)$/.test(file))) {
        const content = readFileSync(join(folder, name))
        writeFileSync(join(folder, `${name}.gz`), gzipSync(content, { level: 9 }))
        const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 }
        writeFileSync(join(folder, `${name}.br`), brotliCompressSync(content, { params: quality }))
      }
    },
  }
}

/** Modules shared by two parts. They load with the page. */
const SHARED =
  /\/widget\/(?:ui\/(?:doors|icons)|i18n\/(?:plural|format)|part-texts|steam-pages)\.|\/node_modules\/react\//

/** Modules that the items and the dialogs share, but not the page. The dialogs have copies of them, so the page comes sooner. */
const COPIED = /\/widget\/(?:ui\/(?:currency|money-rows)|flow\/split)\.tsx?$/
const COPY = '?dialogs'

function copiedForDialogs(): Plugin {
  return {
    name: 'copied-for-dialogs',
    apply: 'build',
    enforce: 'pre',
    async resolveId(source, importer) {
      const isOfDialogs = importer?.includes('/widget/modals/') === true || importer?.endsWith(COPY) === true
      if (!isOfDialogs || !source.startsWith('.')) return null
      const resolved = await this.resolve(source, importer, { skipSelf: true })
      return resolved !== null && COPIED.test(resolved.id) ? `${resolved.id}${COPY}` : resolved
    },
  }
}

const PARTS = { guide: '/link/guide.tsx', stand: '/inventory/stand.tsx', dialogs: '/modals/modals.tsx' }

/** The files of a part that loads after the page: its script first, then its styles. */
function filesOf(part: keyof typeof PARTS, bundle: Rolldown.OutputBundle): string[] {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk')
  const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(PARTS[part]))
  const entry = chunks.find(({ isEntry }) => isEntry)
  if (chunk === undefined || entry === undefined) throw new Error(`the build has no chunk of ${PARTS[part]}`)
  // A file shared by two parts could fail to load too, and has no second address.
  const others = chunk.imports.filter((file) => file !== entry.fileName && !entry.imports.includes(file))
  if (others.length > 0) throw new Error(`${PARTS[part]} needs ${others.join()} besides the page`)
  return [chunk.fileName, ...(chunk.viteMetadata?.importedCss ?? [])].map((file) => `/${file}`)
}

/** Writes the parts' file names into the page, so the page can request them under other addresses if a load fails. */
function partsNamed(): Plugin {
  return {
    name: 'parts-named',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        const named = (['guide', 'stand', 'dialogs'] as const).map(
          (part) => `data-${part}="${filesOf(part, bundle).join(' ')}"`,
        )
        return html.replace('data-mode=', () => `${named.join(' ')} data-mode=`)
      },
    },
  }
}

/**
 * Puts the styles into the page, and a deposit's shell in every language; the gateway keeps one of them. So the first
 * answer alone already shows the payment.
 */
function firstPaint(): Plugin {
  return {
    name: 'first-paint',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      async handler(html, { bundle = {} }) {
        await loadMessages('ru')
        const link = /<link rel="stylesheet" crossorigin href="\/(assets\/[\w.-]+)">/.exec(html)
        const inlined = bundle[link?.[1] ?? '']
        if (link === null || inlined?.type !== 'asset') throw new Error('the page has no styles')
        delete bundle[inlined.fileName]
        const russian = Object.values(bundle).find(({ fileName }) => /\/page\.ru-[^/]+\.js$/.test(fileName))
        if (russian === undefined) throw new Error('the build has no Russian texts')
        const preload = `<link rel="modulepreload" href="/${russian.fileName}">`
        const [script, styles = ''] = filesOf('stand', bundle)
        const items = `{{#shows}}<link rel="modulepreload" href="${script}"><link rel="preload" as="style" href="${styles}">{{/shows}}`
        const shells = [
          `<!--shell-->${items}${shellOf({ texts: null, language: 'en' })}`,
          `<!--shell en-->${items}${shellOf({ texts: messagesIn('en'), language: 'en' })}`,
          `<!--shell ru-->${preload}${items}${shellOf({ texts: messagesIn('ru'), language: 'ru' })}`,
        ]
        return html
          .replace(link[0], () => `<style>${String(inlined.source).trim()}</style>`)
          .replace('<!--shells-->', () => `${shells.join('')}<!--/shells-->`)
      },
    },
  }
}

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), copiedForDialogs(), precompressed(), partsNamed(), firstPaint()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    // The page's policy allows no inline script and no data: picture.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        // Modules that two parts share come with the page: see filesOf.
        codeSplitting: { groups: [{ name: 'base', test: SHARED }] },
      },
    },
  },
})
