import { modalTexts } from '../i18n/modals.ts'
import { createTextsHook } from '../parts/texts.ts'

export const useModalTexts = createTextsHook(modalTexts)
