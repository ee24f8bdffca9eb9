exports.getLanguageInfo = () => {
  throw new Error(
    'The languages package is stubbed: leave the language option of steam-tradeoffer-manager unset.',
  )
}
