package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	body, err := json.Marshal(map[string]string{"from": "ACME", "to": "+639171234567", "text": "Hi"})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "https://api.example.com/sms", bytes.NewReader(body))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	request.Header.Set("Authorization", "Bearer token")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer response.Body.Close()
	var receipt struct{ ID string }
	err = json.NewDecoder(response.Body).Decode(&receipt)
	fmt.Println(receipt.ID, err)
}
