import { join } from 'node:path'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { precompressed } from '../widget/vite.config.ts'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), precompressed()],
  build: {
    outDir: join(import.meta.dirname, 'dist'),
    emptyOutDir: true,
    target: 'es2022',
    // The page's Content Security Policy allows no pictures in `data:` URLs.
    assetsInlineLimit: 0,
    // Every browser with the console's passkey functions can preload modules.
    modulePreload: { polyfill: false },
  },
})
